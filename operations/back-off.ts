export interface BackOff {
  /** The wait after the first failure, in ms. */
  readonly firstMs: number;
  /** The longest wait, in ms. */
  readonly maxMs: number;
}

/**
 * Wait in ms after a number of failures in a row: doubled for each failure after the first, up to the maximum. Random
 * jitter (`chance`, from 0 up to 1) takes off up to half, so that things that failed together do not return together.
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOff, chance: number): number {
  const fullMs = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return Math.round(fullMs * (1 - chance / 2));
}
