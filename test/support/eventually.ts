import { vi } from 'vitest';
import { testLimitMs } from './test-limit.ts';

/** Waits until `look` gives something truthy, and gives that. Fails at once if `look` fails. */
export function eventually<T>(look: () => T | Promise<T>) {
  return vi.waitUntil(look, { timeout: testLimitMs, interval: 10 });
}
