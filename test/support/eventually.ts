import { vi } from 'vitest';
import { testLimitMs } from './test-limit.ts';

/** Waits until `look` returns something truthy, and returns that. Fails at once if `look` fails. */
export function eventually<T>(look: () => T | Promise<T>) {
  return vi.waitUntil(look, { timeout: testLimitMs, interval: 100 });
}
