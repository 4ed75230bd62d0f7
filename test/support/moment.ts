import { inject } from 'vitest';

/** Picks when a fault happens, as a number from 0 to 1: any in a long run, and the same each time in a short one. */
export function pickMoment(): number {
  return inject('isLong') ? Math.random() : 0.5;
}
