import { setTimeout as sleep } from 'node:timers/promises';

const limitMs = 60_000;

/** Waits until `look` returns true. A look that fails counts as false. Fails after a minute. */
export async function waitFor(what: string, look: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + limitMs;
  while (!(await look().catch(() => false))) {
    if (performance.now() > untilMs) throw new Error(`${what} did not come within ${limitMs / 1_000} s`);
    await sleep(50);
  }
}
