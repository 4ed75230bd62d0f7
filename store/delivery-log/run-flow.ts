/** @limit Most deliveries in one run: the next one starts another run. */
export const deliveriesPerRunMax = 1_000;
/** @limit Most payload bytes in one run: its attachments stay small enough to write and send at each attempt. */
export const deliveryBytesPerRunMax = 64 * 1024 * 1024;
/** @limit Runs in one claim that are decided by their flow: a delivery waits a few ms for them at most. */
export const flowDecisionsMax = 100;
/** @limit Runs of a paused automation that one claim releases when the pause has ended: a delivery waits a few ms for them at most. */
export const releasesMax = 1_000;
/** @limit Runs to cancel that one claim takes: the next one takes the others. */
export const cancelsMax = 100;
/** @limit Attempts of a run that are kept with it, the newest ones: more come only of retries by hand. */
export const attemptsKeptMax = 100;
/** @limit Characters of an attempt's error that are kept with it: the run has the last one as a whole. */
export const attemptErrorCharsMax = 300;

/** The error of a run that `runsPerHour` stopped. */
export const stopReason =
  'not started: the automation has reached its limit of runs per hour (runsPerHour); retry the run later';

/** @limit Attempts at a run in a row that may be interrupted because their daemon ends: the run may be what ends it. */
const interruptionsMax = 5;

/** The errors of a run after one interrupted attempt, after two in a row, and so on. A run with the last of them has failed. */
export const interruptionErrors: readonly string[] = Array.from({ length: interruptionsMax }, (_, index) =>
  describeInterruptions(index + 1),
);

/**
 * Returns the error of a run whose attempt is interrupted, and whether that fails the run. `before` is the run's error
 * until now: an attempt that ends by itself replaces it, and so the count begins again.
 */
export function countInterruption(before: string | undefined): { error: string | undefined; fails: boolean } {
  // Someone may have retried a run that had failed for it.
  const count = before === undefined ? 0 : (interruptionErrors.indexOf(before) + 1) % interruptionsMax;
  return { error: interruptionErrors[count], fails: count + 1 === interruptionsMax };
}

function describeInterruptions(count: number): string {
  const what = 'the daemon ended, or lost its claim, during';
  if (count === 1) return `${what} the attempt`;
  return `${what} ${count} attempts in a row${count < interruptionsMax ? '' : '; the run may be what ends it'}`;
}

/**
 * What SQL sets of runs whose daemon is gone: queues them again, or fails those that were interrupted too often in a row.
 * `nowMs`: the time in SQL. `endAttempt` makes the history in which the last attempt has ended with an error.
 */
export function setInterrupted(nowMs: string, endAttempt: (atMs: string, error: string) => string): string {
  const isLast = `cancel IS NULL AND error IS NOT NULL AND error = '${interruptionErrors.at(-2)}'`;
  const cases = interruptionErrors
    .slice(1)
    .map((error, index) => `WHEN '${interruptionErrors[index]}' THEN '${error}'`);
  const next = `CASE error ${cases.join(' ')} ELSE '${interruptionErrors[0]}' END`;
  return `claimed_by = NULL, history = ${endAttempt(nowMs, next)}, state = CASE WHEN ${isLast} THEN 'failed' ELSE 'queued' END,
    finished_at_ms = CASE WHEN ${isLast} THEN ${nowMs} END,
    error = ${next}`;
}
