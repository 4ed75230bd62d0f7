import { expect, test } from 'vitest';
import {
  compareDays,
  describeBars,
  sumHours,
  sumLast,
  toAxis,
  toBarCounts,
  toBars,
} from '../../../../dashboard/text/delivery-bars.ts';
import type { Outcome } from '../../../../schema/delivery.ts';

const since = '2026-11-15T13:00:00.000Z';

/** A tally of seven days with these deliveries, by how many hours before the last one. */
function tally(outcome: Outcome, deliveries: Readonly<Record<number, number>>) {
  const hours = Array.from({ length: 168 }, (_, hour) => deliveries[167 - hour] ?? 0);
  return { outcome, hours };
}

test('bars of a day are hours, those of a week four hours, and both end with the current hour', () => {
  const tallies = [tally('Accepted', { 0: 3, 5: 1, 23: 2, 24: 7, 167: 9 })];
  const day = toBars(since, tallies, 'day');
  expect(day).toHaveLength(24);
  expect(day.at(-1)).toEqual({
    fromMs: Date.parse('2026-11-22T12:00:00Z'),
    toMs: Date.parse('2026-11-22T13:00:00Z'),
    counts: [{ outcome: 'Accepted', deliveries: 3 }],
    kinds: { accepted: 3, duplicate: 0, rejected: 0 },
  });
  expect(describeBars(day)).toBe('6 accepted');
  const week = toBars(since, tallies, 'week');
  expect(week.map(({ kinds }) => kinds.accepted)).toEqual([9, ...Array(34).fill(0), 7, 2, 0, 0, 0, 1, 3]);
  expect(week[0]?.fromMs).toBe(Date.parse(since));
});

test('deliveries of several webhooks are added up, and handshakes are none', () => {
  const tallies = [
    tally('Handshake', { 0: 1 }),
    tally('Rejected (too large)', { 0: 1 }),
    tally('Rejected (auth)', { 0: 2 }),
    tally('Rejected (auth)', { 0: 4 }),
    tally('Duplicate', { 1: 1 }),
  ];
  const bars = toBars(since, tallies, 'day');
  expect(bars.at(-1)).toMatchObject({
    counts: [
      { outcome: 'Rejected (auth)', deliveries: 6 },
      { outcome: 'Rejected (too large)', deliveries: 1 },
      { outcome: 'Handshake', deliveries: 1 },
    ],
    kinds: { accepted: 0, duplicate: 0, rejected: 7 },
  });
  expect(describeBars(bars)).toBe('1 duplicate, 7 rejected');
  expect(describeBars(toBars(since, [], 'day'))).toBe('no deliveries');
});

test('hours of a kind are added up, and summed over the last ones or those before', () => {
  const tallies = [
    tally('Accepted', { 0: 3, 24: 7 }),
    tally('Rejected (auth)', { 0: 1, 5: 2 }),
    tally('Rejected (too large)', { 5: 4, 24: 8 }),
  ];
  const rejected = sumHours(tallies, 'rejected');
  expect([sumLast(rejected, 1), sumLast(rejected, 24), sumLast(rejected, 24, 24)]).toEqual([1, 7, 8]);
  expect(toBarCounts(rejected, 'day').slice(-6)).toEqual([6, 0, 0, 0, 0, 1]);
  expect(toBarCounts(rejected, 'week').slice(-3)).toEqual([0, 6, 1]);
});

test.for([
  [106, 100, '+6 % on the day before'],
  [50, 100, '−50 % on the day before'],
  [3, 0, 'none the day before'],
  [0, 0, 'none the day before either'],
] as const)('%i deliveries after %i are %s', ([count, before, text]) => {
  expect(compareDays(count, before)).toBe(text);
});

test.for([
  [0, 1],
  [2, 1],
  [3, 2],
  [124, 50],
  [126, 60],
  [2_500, 1_000],
  [2_501, 2_000],
] as const)('the axis of a chart whose highest bar is %i has a mark at each %i', ([highest, step]) => {
  const axis = toAxis(highest);
  expect(axis).toEqual({ step, top: 2.5 * step });
  expect(axis.top).toBeGreaterThanOrEqual(highest);
});
