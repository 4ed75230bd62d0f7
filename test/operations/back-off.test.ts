import { expect, test } from 'vitest';
import { backOffMs } from '../../operations/back-off.ts';

const settings = { firstSeconds: 10, maxSeconds: 60 };

test('doubles from attempt to attempt up to the most', () => {
  expect([1, 2, 3, 4, 5, 5000].map(attempts => backOffMs(attempts, settings, 0))).toEqual([
    10_000, 20_000, 40_000, 60_000, 60_000, 60_000,
  ]);
});

test('takes off up to half at random', () => {
  expect([0, 0.5, 1 - Number.EPSILON].map(chance => backOffMs(1, settings, chance))).toEqual([
    10_000, 7_500, 5_000,
  ]);
});
