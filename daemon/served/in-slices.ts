import { setImmediate } from 'node:timers/promises';

/** @limit Longest uninterrupted work on a changed state in the thread of the ingress, in ms: a delivery waits no longer for it. */
const sliceMs = 3;

/** Runs the steps of a generator one after the other. */
export function runAtOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Runs the steps of a generator in slices, and lets deliveries through between them. */
export async function runInSlices<T>(steps: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const untilMs = performance.now() + sliceMs;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < untilMs);
    await setImmediate();
  }
}
