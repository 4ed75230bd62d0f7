/** Time within which a test must end, in ms. Nothing that a test waits for has a shorter limit: a busy machine is slow, not wrong. */
export const testLimitMs = 180_000;
