import { parseDurationMs } from '../../schema/time-units.ts';
import type { DeliveryLog, Run, RunDelivery, StoredEvent } from '../../store/ports/delivery-log.ts';
import type { RunFiles } from '../../store/ports/run-files.ts';
import type { Traces } from '../observability/traces.ts';
import type { RunAutomation } from './run-automations.ts';
import { renderRunMessage } from './run-message.ts';
import { toUnattempted } from './run-record.ts';
import { endLeftovers } from './runners/end-leftovers.ts';
import type { AttemptResult, CreatedRunner, OpenRunner } from './runners/runner.ts';

export interface AttemptDeps {
  readonly deliveryLog: Pick<DeliveryLog, 'readEvent' | 'listRunDeliveries'>;
  readonly runFiles: Pick<RunFiles, 'discard' | 'prepare'>;
  readonly runner: Pick<OpenRunner, 'execute' | 'actAfterwards' | 'tellCancelled' | 'keep'>;
  /** Undefined unless the daemon traces. */
  readonly traces?: Traces | undefined;
}

/**
 * Makes one attempt at a claimed run: ends what earlier ones left running, writes the run's directory, whatever the runner,
 * then calls the runner.
 */
export async function attemptRun(
  run: Run,
  automation: RunAutomation,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<AttemptResult> {
  if (run.afterwards) return attemptAfterwards(run, automation, deps, signal);
  const { prompt, timeLimit, repository, requires } = automation;
  const event = await deps.deliveryLog.readEvent(run.deliveryId);
  if (!event) return { kind: 'failed', reason: 'the payload of the delivery is not in the log' };
  const gathered = run.deliveryCount === undefined ? [] : await deps.deliveryLog.listRunDeliveries(run.id);
  const message = renderRunMessage(run, prompt, gathered.length);
  const events = gathered.length === 0 ? undefined : readEvents(gathered, deps);
  // First, because a process of an earlier attempt could write to the directory of this one.
  if (run.claims > 1 && !(await endLeftovers(run, signal))) return leftoversStay;
  if (!deps.runner.keep) await deps.runFiles.discard(run.id);
  const directory = await deps.runFiles.prepare(run.id, message, event, events);
  // Last, because a runner must begin with a signal that has not aborted: `fetch` of an aborted form ends the process.
  if (signal.aborted) return { kind: 'unattempted', reason: 'the daemon stopped before the attempt began' };
  const timeLimitMs = timeLimit === undefined ? undefined : parseDurationMs(timeLimit);
  const wanted = { timeLimitMs, repository, requires };
  const attempt = { run, directory, message, gathered: gathered.length, ...wanted, ...event };
  const trace = deps.traces?.beginAttempt(run, event.headers);
  if (!trace) return deps.runner.execute(attempt, signal);
  const traced = { ...attempt, traceparent: trace.traceparent };
  const result = await deps.runner.execute(traced, signal).catch(toUnattempted);
  trace.end(result);
  return result;
}

/** Makes one attempt at the second command of a run. */
async function attemptAfterwards(
  run: Run,
  automation: RunAutomation,
  { runner }: AttemptDeps,
  signal: AbortSignal,
): Promise<AttemptResult> {
  if (!runner.actAfterwards)
    return { kind: 'failed', reason: `the runner ${run.runner} has no second command (afterwards) any more` };
  if (!(await endLeftovers(run, signal))) return leftoversStay;
  return runner.actAfterwards(run, automation, signal);
}

const leftoversStay: AttemptResult = {
  kind: 'unattempted',
  reason: 'processes of an earlier attempt are still there',
};

/** Ends what is left of a run that somebody cancels, on this machine and at its receiver. */
export async function cancelAttempts(
  run: Run,
  { tellCancelled }: Pick<CreatedRunner, 'tellCancelled'>,
  signal: AbortSignal,
): Promise<AttemptResult> {
  if (!(await endLeftovers(run, signal))) return leftoversStay;
  const untold = await tellCancelled?.(run, signal);
  if (untold === undefined) return { kind: 'cancelled' };
  return {
    kind: 'cancelled',
    reason: `the receiver could not be told that the run was cancelled: ${untold}`,
  };
}

/** Reads one event after the other, so that only one is in memory. */
async function* readEvents(
  deliveries: readonly RunDelivery[],
  { deliveryLog }: AttemptDeps,
): AsyncGenerator<StoredEvent> {
  for (const { id } of deliveries) {
    const event = await deliveryLog.readEvent(id);
    if (!event) throw new Error(`the payload of ${id} was removed from the log`);
    yield event;
  }
}
