/** Time within which a test must end, in ms. A busy machine is slow, not wrong. */
export const testLimitMs = 180_000;

/**
 * Time within which one thing that a test waits for must happen, in ms: shorter, so that a failure names it, and soon
 * where somebody waits for the result.
 */
export const stepLimitMs: number = process.env.CI === undefined ? 20_000 : (2 * testLimitMs) / 3;
