/** @limit Part of the time that looks without a notification take, as a divisor: to look at thousands of factories takes long. */
const lookPart = 50;
/** @limit Longest time between two of them, in ms: nobody waits longer for a change without a notification. */
const lookAtLatestMs = 15_000;

/** Looks every few ms, or less often if a look takes long. Returns a function that ends it. */
export function lookRegularly(look: () => unknown, everyMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  const lookIn = (ms: number) => {
    if (!isEnded) timer = setTimeout(lookAndGoOn, ms);
  };
  const lookAndGoOn = async () => {
    const startedMs = performance.now();
    await look();
    const restMs = lookPart * (performance.now() - startedMs);
    lookIn(Math.max(everyMs, Math.min(restMs, lookAtLatestMs)));
  };
  lookIn(everyMs);
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}
