import { setTimeout as wait } from 'node:timers/promises';
import { stepLimitMs } from './test-limit.ts';

type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>;

/**
 * Waits until `look` returns something truthy, and returns that. Fails at once if `look` fails. Looks often at first, and
 * then less and less: a look at a busy daemon takes more processor time than anything else in a test that waits long.
 */
export async function eventually<T>(look: () => T | Promise<T>): Promise<Truthy<T>> {
  const endMs = performance.now() + stepLimitMs;
  for (let waitMs = 10; performance.now() < endMs; waitMs = Math.min(1.3 * waitMs, 250)) {
    const seen = await look();
    if (seen) return seen as Truthy<T>;
    await wait(waitMs);
  }
  throw new Error(`nothing was seen within ${stepLimitMs} ms`);
}
