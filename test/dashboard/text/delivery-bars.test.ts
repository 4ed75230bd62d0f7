import { expect, test } from 'vitest';
import { describeBars, toBars } from '../../../dashboard/text/delivery-bars.ts';
import type { Outcome } from '../../../schema/delivery.ts';

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
