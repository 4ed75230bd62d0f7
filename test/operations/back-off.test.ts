import { expect, test } from 'vitest';
import { backOffMs } from '../../operations/back-off.ts';

const backOff = { firstMs: 10_000, maxMs: 60_000 };

test('doubles with each failure up to the maximum', () => {
  expect([1, 2, 3, 4, 5, 5000].map(failures => backOffMs(failures, backOff, 0))).toEqual([
    10_000, 20_000, 40_000, 60_000, 60_000, 60_000,
  ]);
});

test('takes off up to half at random', () => {
  expect([0, 0.5, 1 - Number.EPSILON].map(chance => backOffMs(1, backOff, chance))).toEqual([
    10_000, 7_500, 5_000,
  ]);
});
