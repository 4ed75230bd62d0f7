/** @limit Attempts at a run in a row that may be interrupted because their daemon is killed: the run may be what ends it. */
const interruptionsMax = 5;

const reasons = Array.from({ length: interruptionsMax }, (_, index) => describeInterruptions(index + 1));

/** @limit Most deliveries in one run: the next one starts another run. */
export const deliveriesPerRunMax = 1_000;
/** @limit Most payload bytes in one run: its attachments stay small enough to write and send at each attempt. */
export const deliveryBytesPerRunMax = 64 * 1024 * 1024;
/** @limit Runs in one claim that are decided by their flow: a delivery waits a few ms for them at most. */
export const flowDecisionsMax = 100;

/** The error of a run that `runsPerHour` stopped. */
export const stopReason =
  'not started: the automation has reached its limit of runs per hour (runsPerHour); retry the run later';

/**
 * What SQL sets of runs whose daemon is gone: queues them again, or fails those that were interrupted too often in a row.
 * The reason of the last attempt counts, because an attempt that ends by itself replaces it. `nowMs`: the time in SQL.
 */
export function setInterrupted(nowMs: string): string {
  const isLast = `error IS NOT NULL AND error = '${reasons.at(-2)}'`;
  const cases = reasons.slice(1).map((reason, index) => `WHEN '${reasons[index]}' THEN '${reason}'`);
  return `claimed_by = NULL, state = CASE WHEN ${isLast} THEN 'failed' ELSE 'queued' END,
    finished_at_ms = CASE WHEN ${isLast} THEN ${nowMs} END,
    error = CASE error ${cases.join(' ')} ELSE '${reasons[0]}' END`;
}

function describeInterruptions(count: number): string {
  const what = `the daemon was killed or lost its claim during ${count} attempts in a row`;
  if (count === 1) return 'the daemon was killed or lost its claim during the attempt';
  return count < interruptionsMax ? what : `${what}; the run may be what ends it`;
}
