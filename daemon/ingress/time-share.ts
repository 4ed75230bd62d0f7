/** @limit Time that explanations of failures may take in each second, in ms: an attack must not cost more than 1 % of it. */
const explainingMsPerSecond = 10;
/** @limit Time that explanations may take at once after a quiet while, in ms: someone who sets up a webhook gets each one. */
const explainingBurstMs = 100;

/**
 * Makes a function that does work which explains a failure. It returns undefined instead while explanations have taken
 * more than their share of the time.
 */
export function createTimeShare(monotonicMs: () => number): (work: () => string) => string | undefined {
  let leftMs = explainingBurstMs;
  let countedMs = monotonicMs();
  return work => {
    const startMs = monotonicMs();
    leftMs = Math.min(explainingBurstMs, leftMs + ((startMs - countedMs) / 1_000) * explainingMsPerSecond);
    countedMs = startMs;
    if (leftMs <= 0) return undefined;
    const explanation = work();
    leftMs -= monotonicMs() - startMs;
    return explanation;
  };
}
