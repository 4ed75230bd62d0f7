import { describe, expect, inject, test } from 'vitest';
import { judgeHealth } from '../../../../operations/health/judge-health.ts';
import type { Outcome } from '../../../../schema/delivery.ts';
import { tallyRows } from '../../../../store/delivery-log/tally-rows.ts';
import { createRandom } from '../../../support/random.ts';
import { dayMs, hourMs, minuteMs, promisedRhythms, type Rhythm } from './rhythms.ts';
import { findFirst, simulateWebhook } from './simulate.ts';

/** A Thursday. */
const startMs = 2_900 * 7 * dayMs;
const learnedMs = startMs + 35 * dayMs;
const endMs = learnedMs + 25 * dayMs;
const webhooksOfEach = inject('isLong') ? 4 : 1;
const days = inject('isLong') ? 1_200 : 300;

/** A webhook for each seed. */
function listWebhooks({ list }: Rhythm) {
  return Array.from({ length: webhooksOfEach }, (_, seed) => {
    const random = createRandom(seed);
    return { random, times: list(random, startMs, endMs) };
  });
}

describe(`in ${days} days of webhooks with usual rhythms`, () => {
  test('silence is never called unusual that is not', () => {
    const webhooks = Object.values(promisedRhythms).flatMap(listWebhooks);
    expect((webhooks.length * (endMs - learnedMs)) / dayMs).toBe(days);
    const found = webhooks.flatMap(({ times }) => simulateWebhook(times).findSilences(learnedMs, endMs));
    // One would be allowed.
    expect(found).toEqual([]);
  });

  test.for(Object.entries(promisedRhythms))(
    'silence of "%s" is found after two to three usual gaps',
    ([, rhythm]) => {
      for (const { random, times } of listWebhooks(rhythm)) {
        const cutMs = learnedMs + random() * (endMs - learnedMs);
        const before = times.slice(
          0,
          findFirst(times, atMs => atMs >= cutMs),
        );
        const lastMs = before.at(-1) ?? 0;
        const [foundMs = Infinity] = simulateWebhook(before).findSilences(lastMs, lastMs + 40 * dayMs);
        const usual = Math.max(
          ...before.slice(1).map((atMs, index) => measure(rhythm, before[index] ?? 0, atMs)),
        );
        const gaps = measure(rhythm, lastMs, foundMs) / usual;
        expect(gaps).toBeGreaterThan(1);
        expect(gaps).toBeLessThan(3.3);
      }
    },
  );
});

/** How much time passes for a rhythm, which may rest at night. */
function measure({ pace }: Rhythm, fromMs: number, toMs: number): number {
  let sum = 0;
  for (let atMs = fromMs; atMs < toMs; atMs += minuteMs) sum += pace(atMs) * Math.min(minuteMs, toMs - atMs);
  return sum;
}

type Event = readonly [outcome: Outcome, atMs: number, count?: number];

function judge(
  events: readonly Event[],
  nowMs: number,
  given: Partial<Parameters<typeof judgeHealth>[0]> = {},
) {
  const rows = events.flatMap(([outcome, atMs, count = 1]) =>
    Array.from({ length: count }, () => ({ factory: 'f', uid: 'u', webhook: 'w', outcome, atMs })),
  );
  return judgeHealth({ tallies: tallyRows(rows), nowMs, listeningSinceMs: 0, ...given });
}

const now = startMs + 60 * dayMs;
const hourly = Array.from(
  { length: 40 * 24 },
  (_, index): Event => ['Accepted', now - (index + 1) * hourMs],
).reverse();

describe('a webhook', () => {
  test('that never accepted anything was never seen, however often it was tried', () => {
    expect(judge([], now)).toMatchObject({ state: 'never seen', sinceMs: null });
    expect(judge([['Handshake', now]], now).state).toBe('never seen');
    expect(judge([['Rejected (auth)', now, 19]], now).state).toBe('never seen');
  });

  test('with 20 rejections is failing, and says what most of them failed at', () => {
    const events: Event[] = [
      ['Rejected (invalid JSON)', now - 30_000],
      ['Rejected (auth)', now - 20_000, 19],
    ];
    expect(judge(events, now)).toEqual({
      state: 'failing',
      reason: 'the last 20 deliveries were rejected, most of them by authentication; none was ever accepted',
      sinceMs: Math.floor((now - 30_000) / hourMs) * hourMs,
      dueMs: null,
    });
  });

  test('is failing earlier if rejections are rare, later if they are usual, and no more once one is accepted', () => {
    const rejected = (count: number): Event => ['Rejected (auth)', now, count];
    expect(judge([...hourly, rejected(4)], now).state).toBe('healthy');
    expect(judge([...hourly, rejected(5)], now)).toMatchObject({
      state: 'failing',
      reason: expect.stringMatching(/^the last 5 .*; usually none are$/),
      sinceMs: now - hourMs,
    });
    expect(judge([...hourly, rejected(50), ['Duplicate', now]], now).state).toBe('healthy');
    const mixed = hourly.flatMap((event): Event[] => [['Rejected (auth)', event[1], 9], event]);
    expect(judge([...mixed, rejected(100)], now).state).toBe('healthy');
    expect(judge([...mixed, rejected(200)], now).state).toBe('failing');
  });

  test('is quiet from the time on that was said before, and says since when', () => {
    const { state, dueMs } = judge(hourly, now);
    expect(state).toBe('healthy');
    const due = dueMs ?? 0;
    expect((due - (now - hourMs)) / hourMs).toBeCloseTo(2, 1);
    expect(judge(hourly, due - 1).state).toBe('healthy');
    expect(judge(hourly, due)).toEqual({
      state: 'quiet',
      reason: 'no delivery for 2 hours; 60 minutes are usual at most at this time',
      sinceMs: now - hourMs,
      dueMs: null,
    });
  });

  test('is quiet until a delivery comes, also when its past is forgotten', () => {
    const known = { state: 'quiet', sinceMs: now, fromMs: 0 };
    const later = now + 90 * dayMs;
    expect(judge([], later, { known })).toMatchObject({ state: 'quiet', sinceMs: now });
    expect(judge([['Accepted', later]], later, { known }).state).toBe('healthy');
    expect(judge([], later, { known: { state: 'healthy', sinceMs: null, fromMs: 0 } }).state).toBe('healthy');
  });

  test('is not called quiet for the time in which nothing could be delivered', () => {
    expect(judge(hourly, now + 5 * hourMs).state).toBe('quiet');
    const listeningSinceMs = now + 4.5 * hourMs;
    const { state, dueMs } = judge(hourly, now + 5 * hourMs, { listeningSinceMs });
    expect(state).toBe('healthy');
    expect(((dueMs ?? 0) - listeningSinceMs) / hourMs).toBeCloseTo(2, 1);
  });

  test('is not called quiet in its first two weeks, nor while too little is known', () => {
    const young = hourly.slice(-10 * 24);
    expect(judge(young, now + 2 * dayMs)).toMatchObject({ state: 'healthy', sinceMs: null });
    const rare: Event[] = [1, 20, 40].map(day => ['Accepted', startMs + day * dayMs]);
    expect(judge(rare, now).state).toBe('healthy');
  });

  test('that was silent once for long is judged by its other gaps', () => {
    const outage = hourly.filter(([, atMs]) => Math.abs(atMs - (now - 20 * dayMs)) > dayMs);
    const { dueMs } = judge(outage, now);
    expect(((dueMs ?? 0) - now) / hourMs).toBeLessThan(3);
  });

  test('whose clock changes by an hour, or that sends twice as often, is healthy', () => {
    const rhythm = promisedRhythms['twelve an hour in the office'] as Rhythm;
    const times = rhythm.list(createRandom(5), startMs, endMs);
    const shifted = times.map(atMs => (atMs < learnedMs ? atMs : atMs + hourMs));
    expect(simulateWebhook(shifted).findSilences(learnedMs, endMs)).toEqual([]);
    const more = rhythm.list(createRandom(6), learnedMs, endMs);
    const doubled = [...times, ...more].sort((a, b) => a - b);
    expect(simulateWebhook(doubled).findSilences(learnedMs, endMs)).toEqual([]);
  });
});
