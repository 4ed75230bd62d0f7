import { expect, test } from 'vitest';
import { backOffMs, parseRetryAfterMs } from '../../../schema/retry-waits.ts';

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

const nowMs = Date.UTC(1994, 10, 6, 8, 49, 0);

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  // The example of RFC 9110 §5.6.7.
  ['Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
])('reads %j', (header, expected) => {
  expect(parseRetryAfterMs(header, nowMs)).toBe(expected);
});

test.each(['3601', '9999999999', 'Sun, 06 Nov 2094 08:49:37 GMT'])('waits an hour at most for %j', header => {
  expect(parseRetryAfterMs(header, nowMs)).toBe(3_600_000);
});

test.each([
  null,
  '',
  '-1',
  '1.5',
  '12abc',
  '1e3',
  '99999999999',
  '1994-11-06',
  'Sun, 99 Foo 1994 08:49:37 GMT',
])('asks nothing: %j', header => {
  expect(parseRetryAfterMs(header, nowMs)).toBeUndefined();
});
