export interface BackOff {
  /** The wait after the first failure, in ms. */
  readonly firstMs: number;
  /** The longest wait, in ms. */
  readonly maxMs: number;
}

/**
 * Computes the wait in ms after a number of failures in a row. It doubles with each failure, up to the maximum. Random
 * jitter (`chance`, 0–1) shortens it by up to half, so that callers that failed together do not retry together.
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOff, chance: number): number {
  const fullMs = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return Math.round(fullMs * (1 - chance / 2));
}
