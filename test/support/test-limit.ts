/** Time within which a test must end, in ms. A busy machine is slow, not wrong. */
export const testLimitMs = 180_000;

/** Time within which one thing that a test waits for must happen, in ms: shorter, so that a failure names it. */
export const stepLimitMs: number = (2 * testLimitMs) / 3;
