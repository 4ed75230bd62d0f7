import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backOffMs } from '../../schema/retry-waits.ts';
import type { DeliveryLog, Run, RunCancel } from '../../store/ports/delivery-log.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import type { RunEnd } from '../observability/run-metrics.ts';
import type { RunSettings } from './run-settings.ts';
import { type AttemptResult, toClaim } from './runners/runner.ts';

/** @limit Time between two tries to record the result of an attempt, in ms, while the delivery log cannot be written. */
const recordRetryMs = 2_000;

/** @limit Shortest wait until a cancelled run is ended again, in ms: most passing faults are over then. */
const cancelWaitMsMin = 1_000;
/** @limit Longest wait until a cancelled run is ended again, in ms: what keeps it from ending costs little until it is repaired. */
const cancelWaitMsMax = 60_000;

export interface RecordAttemptDeps {
  readonly deliveryLog: Pick<DeliveryLog, 'finishRun' | 'awaitReport' | 'postponeRun'>;
  readonly settings: Pick<RunSettings, 'attempts' | 'backOff'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** How long a run waits that hookmill itself could not begin, in ms. */
  readonly troubleWaitMs: () => number;
}

/**
 * Finishes the run or queues it again, and returns which. Repeats until the log can be written, so that no run stays
 * running forever.
 */
export async function recordAttempt(
  run: Run,
  result: AttemptResult,
  deps: RecordAttemptDeps,
  signal: AbortSignal,
): Promise<RunEnd> {
  for (;;) {
    try {
      return await settleRun(run, result, deps, signal);
    } catch (error) {
      if (!(error instanceof DeliveryLogError) || error.code !== 'failed' || signal.aborted) throw error;
      deps.log.error({ run: run.id, err: error }, 'cannot record the result of a run attempt yet');
      await sleep(recordRetryMs, undefined, { signal });
    }
  }
}

/** Finishes the run or queues it again, without a second try. */
export async function settleRun(
  run: Run,
  result: AttemptResult,
  { deliveryLog, settings, nowMs, random, troubleWaitMs }: RecordAttemptDeps,
  signal?: AbortSignal,
): Promise<RunEnd> {
  const { kind } = result;
  const claim = toClaim(run);
  const atMs = nowMs();
  const error = result.reason;
  const isInterrupted = signal?.aborted === true;
  const finish = async (state: 'succeeded' | 'failed' | 'cancelled'): Promise<RunEnd> =>
    (await deliveryLog.finishRun({ ...claim, state, atMs, error })) ? state : 'lost';
  const postpone = async (waitMs: number): Promise<RunEnd> => {
    const postponement = {
      ...claim,
      atMs,
      notBeforeMs: atMs + waitMs,
      attempted: kind === 'retry',
      isInterrupted,
      error,
    };
    return (await deliveryLog.postponeRun(postponement)) ? 'queued' : 'lost';
  };
  if (kind === 'succeeded' || kind === 'failed' || kind === 'cancelled') return finish(kind);
  if (kind === 'waiting')
    return (await deliveryLog.awaitReport({ ...claim, untilMs: result.untilMs })) ? 'waiting' : 'lost';
  if (kind === 'proposed') {
    const { sinceMs, approvalUntilMs } = result;
    const postponement = { ...claim, atMs, notBeforeMs: approvalUntilMs ?? atMs, attempted: true, error };
    const second = { sinceMs, waitsForApproval: approvalUntilMs !== undefined };
    return (await deliveryLog.postponeRun({ ...postponement, second })) ? 'proposed' : 'lost';
  }
  if (isInterrupted) return postpone(0);
  if (kind === 'unattempted')
    return postpone(run.cancel ? waitToCancelMs(run.cancel, atMs) : troubleWaitMs());
  if (run.attempts >= settings.attempts) return finish('failed');
  const { firstSeconds, maxSeconds } = settings.backOff;
  const backOff = { firstMs: firstSeconds * 1_000, maxMs: maxSeconds * 1_000 };
  return postpone(Math.max(backOffMs(run.attempts, backOff, random()), result.afterMs ?? 0));
}

/** How long a cancelled run waits whose end failed, in ms: as long as somebody has waited for it already, within bounds. */
function waitToCancelMs(cancel: RunCancel, nowMs: number): number {
  return Math.min(Math.max(nowMs - cancel.atMs, cancelWaitMsMin), cancelWaitMsMax);
}
