import { expect, test } from 'vitest';
import { createTimeShare } from '../../../../daemon/ingress/budgets.ts';

function share() {
  const clock = { ms: 0, waitedMs: 0 };
  const explain = createTimeShare(
    () => clock.ms,
    () => clock.ms - clock.waitedMs,
  );
  /** Asks for an explanation that takes so long, and waits for the processor meanwhile; says whether it was made. */
  const take = (ms: number, waitingMs = 0) =>
    explain(() => {
      clock.ms += ms + waitingMs;
      clock.waitedMs += waitingMs;
      return 'explained';
    }) !== undefined;
  return { clock, take };
}

test('explanations that follow each other take a tenth of a second at most', () => {
  const { take } = share();
  const made = Array.from({ length: 1_000 }, () => take(5)).filter(Boolean);
  expect(made.length).toBeGreaterThanOrEqual(20);
  expect(made.length).toBeLessThanOrEqual(22);
});

test('explanations that never stop take 1 % of the time', () => {
  const { clock, take } = share();
  while (take(5));
  const fromMs = clock.ms;
  let madeMs = 0;
  while (clock.ms < fromMs + 100_000) {
    if (take(5)) madeMs += 5;
    else clock.ms += 1;
  }
  expect(madeMs).toBeGreaterThan(900);
  expect(madeMs).toBeLessThan(1_100);
});

test('quiet time earns no more than a tenth of a second', () => {
  const { clock, take } = share();
  clock.ms += 24 * 60 * 60 * 1_000;
  expect(take(600)).toBe(true);
  expect(take(1)).toBe(false);
});

test('an explanation that waits for a busy machine leaves others their time', () => {
  const { take } = share();
  expect(take(1, 600)).toBe(true);
  expect(take(1)).toBe(true);
});
