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
