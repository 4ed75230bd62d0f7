import { expect, test } from 'vitest';
import { findSenderState, settleSenderTimes } from '../../../schema/sender.ts';
import { beginNotAhead, followWait, notAhead } from '../../../schema/stored-times.ts';

const nowMs = Date.parse('2027-01-01T12:00:00.000Z');
const hourMs = 3_600_000;
const at = (hours: number) => new Date(nowMs + hours * hourMs).toISOString();

test('a time that is ahead of now counts as now, any other one as it is', () => {
  expect([at(-1), at(0), at(6)].map(time => notAhead(time, nowMs))).toEqual([at(-1), at(0), at(0)]);
});

test('a wait that began ahead of now begins now, and is as long', () => {
  const past = { fromMs: nowMs - 1, untilMs: nowMs + hourMs };
  expect(beginNotAhead(past, nowMs)).toBe(past);
  const ahead = { fromMs: nowMs + 6 * hourMs, untilMs: nowMs + 7 * hourMs };
  expect(beginNotAhead(ahead, nowMs)).toEqual({ fromMs: nowMs, untilMs: nowMs + hourMs });
});

test('a wait that is followed begins again when the clock is set back, and not again as time passes', () => {
  const wait = followWait({ fromMs: nowMs, untilMs: nowMs + hourMs });
  expect(wait.isRunning(nowMs + 1)).toBe(true);
  const backMs = nowMs - 6 * hourMs;
  expect(wait.isRunning(backMs)).toBe(true);
  expect(wait.isRunning(backMs + hourMs - 1)).toBe(true);
  expect(wait.isRunning(backMs + hourMs)).toBe(false);
});

test('the state of a sender is settled: what was compared, asked for and registered ahead of now counts as now', () => {
  const { checked, ...empty } = findSenderState([], 'wh_1');
  const asked = [at(-1), at(6)].map(time => ({
    ...{ eventId: time, times: 1, byDaemon: true, at: time },
  }));
  const missed = { at: at(6), since: at(-9), nextSince: at(5), events: 0, attempts: 0 };
  const ahead = {
    ...{ ...empty, checked, asked, registering: { id: '1', at: at(6), by: 'ada' } },
    missed: { ...missed, inVain: 0, lost: [], recovering: 0, first: null, last: null, problem: null },
  };
  expect(settleSenderTimes(ahead, nowMs)).toEqual({
    ...{ uid: 'wh_1', checked: null, registering: { id: '1', at: at(0), by: 'ada' } },
    missed: { ...ahead.missed, at: at(0) },
    asked: [asked[0], { ...asked[1], at: at(0) }],
  });
  const current = { ...ahead, missed: null, registering: null, asked: asked.slice(0, 1) };
  expect(settleSenderTimes(current, nowMs)).toBe(current);
});
