import type { AlertType } from '../../schema/alerts.ts';
import type { DeliveryLogReader, Run } from '../../store/ports/delivery-log.ts';
import type { Store } from '../../store/ports/store.ts';
import type { Finding } from './follow-episodes.ts';

/** @limit Runs of an automation that must fail one after the other for an alert: one may fail for a passing fault. */
const failuresInRow = 3;
/** @limit Newest runs of an automation among which those are that ended last. */
const runsRead = 20;
/** @limit Newest failed runs of an automation among which alerts look for those that were stopped. */
const failedRunsRead = 100;
/** @limit Time after the last stopped run of an automation until its alert is resolved, in ms. */
const stoppedMs = 60 * 60_000;
/** @limit Time for which an automation is paused, without an end, until there is an alert, in ms: a day's work may need the pause. */
const pausedMs = 86_400_000;
/** @limit Time for which a branch must not be followed for an alert, in ms: most faults of a remote pass. */
const reconcileFailingMs = 5 * 60_000;

export interface AutomationOfFactory {
  readonly factory: string;
  readonly automation: string;
}

/** Finds what is wrong with the runs of an automation. */
export async function findRunProblems(
  deliveries: Pick<DeliveryLogReader, 'listRuns' | 'findHoldingRun'>,
  { factory, automation }: AutomationOfFactory,
  nowMs: number,
): Promise<Finding[]> {
  const of = { factory, automation };
  const failed = await deliveries.listRuns({ ...of, state: 'failed', limit: failedRunsRead });
  return [
    await findFailingRuns(deliveries, of),
    findStoppedRuns(failed, of, nowMs),
    findHeldRuns(await deliveries.findHoldingRun(of), of),
  ];
}

/** Finds whether `runsPerHour` has stopped runs of an automation within the last hour. */
function findStoppedRuns(
  failed: readonly Run[],
  { factory, automation }: AutomationOfFactory,
  nowMs: number,
): Finding {
  const timesMs = failed.flatMap(({ stopped, finishedAtMs = 0 }) => (stopped ? [finishedAtMs] : []));
  const sinceMs = Math.min(...timesMs.filter(atMs => nowMs - atMs < stoppedMs));
  const reason = `runs of ${automation} were stopped: as many were started within an hour as runsPerHour allows`;
  const problem = Number.isFinite(sinceMs) ? { reason, sinceMs } : null;
  return toFinding('runs.stopped', { factory, automation }, problem);
}

/** Finds whether failed runs of an automation keep others waiting, which nothing but a person ends. */
function findHeldRuns(holding: Run | undefined, { factory, automation }: AutomationOfFactory): Finding {
  const reason = `${holding?.id} of ${automation} failed, and the next runs wait behind it`;
  const sinceMs = holding ? (holding.finishedAtMs ?? holding.createdAtMs) : 0;
  const problem = holding ? { reason, sinceMs, run: holding.id } : null;
  return toFinding('runs.held', { factory, automation }, problem);
}

/** Finds whether the last runs of an automation that ended have all failed. Those that were stopped do not count. */
async function findFailingRuns(
  deliveries: Pick<DeliveryLogReader, 'listRuns'>,
  { factory, automation }: AutomationOfFactory,
): Promise<Finding> {
  const runs = await deliveries.listRuns({ factory, automation, limit: runsRead });
  const ended = runs
    .filter(({ state, stopped }) => state === 'succeeded' || (state === 'failed' && !stopped))
    .sort((a, b) => (b.finishedAtMs ?? 0) - (a.finishedAtMs ?? 0))
    .slice(0, failuresInRow);
  const first = ended.at(-1);
  const isFailing = ended.length === failuresInRow && ended.every(({ state }) => state === 'failed');
  const reason = `the last ${failuresInRow} runs of ${automation} failed: ${ended[0]?.error ?? 'without a reason'}`;
  const problem = isFailing && first ? { reason, sinceMs: first.finishedAtMs ?? first.createdAtMs } : null;
  return toFinding('runs.failing', { factory, automation }, problem);
}

/**
 * Finds the pauses without an end that have lasted for a day. The automations in `watched`, whose alerts are open, are reported
 * as well, without a problem if they have no such pause any more.
 */
export async function findLongPauses(
  deliveries: Pick<DeliveryLogReader, 'listPauses'>,
  watched: readonly AutomationOfFactory[],
  nowMs: number,
): Promise<Finding[]> {
  const pauses = await deliveries.listPauses({ nowMs });
  const long = pauses.filter(({ atMs, untilMs }) => untilMs === undefined && nowMs - atMs >= pausedMs);
  const findings = long.map(pause => {
    const reason = `${pause.automation} was paused by ${pause.by}, and no run of it starts`;
    return toFinding('automation.paused', pause, { reason, sinceMs: pause.atMs });
  });
  return withEnded('automation.paused', findings, watched);
}

/**
 * Finds the automations of which runs wait for approval. Those in `watched`, whose alerts are open, are reported as well,
 * without a problem if none does any more.
 */
export async function findUnapproved(
  deliveries: Pick<DeliveryLogReader, 'listUnapprovedRuns'>,
  watched: readonly AutomationOfFactory[],
): Promise<Finding[]> {
  const findings = (await deliveries.listUnapprovedRuns()).map(run => {
    const { id, automation, afterwards, createdAtMs } = run;
    const reason = `${id} of ${automation} waits until somebody approves what it left`;
    return toFinding('runs.unapproved', run, {
      reason,
      sinceMs: afterwards?.sinceMs ?? createdAtMs,
      run: id,
    });
  });
  return withEnded('runs.unapproved', findings, watched);
}

function toFinding(
  type: AlertType,
  { factory, automation }: AutomationOfFactory,
  problem: Finding['problem'],
): Finding {
  return { type, factory, subject: automation, name: automation, problem };
}

/** Adds the automations of open alerts that have no finding any more. */
function withEnded(
  type: AlertType,
  findings: readonly Finding[],
  watched: readonly AutomationOfFactory[],
): Finding[] {
  const ended = watched.filter(
    of => !findings.some(({ factory, subject }) => factory === of.factory && subject === of.automation),
  );
  return [...ended.map(of => toFinding(type, of, null)), ...findings];
}

/** Finds whether a factory has not followed its branch for some minutes. */
export async function findFailingReconcile(
  reconcileStatuses: Pick<Store['reconcileStatuses'], 'read'>,
  factory: string,
  nowMs: number,
): Promise<Finding> {
  const { failingSince, lastFailure, suspendedAt } = await reconcileStatuses.read(factory);
  const sinceMs = failingSince === null ? Infinity : Date.parse(failingSince);
  const isFailing = suspendedAt === null && nowMs - sinceMs >= reconcileFailingMs;
  const reason = `the branch cannot be followed: ${lastFailure?.message ?? 'without a reason'}`;
  const problem = isFailing ? { reason, sinceMs } : null;
  return { type: 'reconcile.failing', factory, subject: '', name: '', problem };
}
