import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Finding, followEpisodes } from '../../../../operations/attention/follow-episodes.ts';
import { type AlertState, noAlerts } from '../../../../store/ports/alerts.ts';

const nowMs = 1_750_000_000_000;
const context = { nowMs, receivers: ['http://a', 'http://b'], dashboardUrl: 'http://c', randomBytes };

function finding(type: Finding['type'], isWrong: boolean, subject = 'wh_1'): Finding {
  const problem = isWrong ? { reason: 'it is', sinceMs: nowMs - 1 } : null;
  return { type, factory: 'default', subject, name: 'deploys', problem };
}

function follow(state: AlertState, findings: readonly Finding[], atMs = nowMs): AlertState {
  return followEpisodes(state, findings, { ...context, nowMs: atMs });
}

function statuses({ messages }: AlertState) {
  return messages.map(({ receiver, body }) => `${receiver} ${JSON.parse(body).data.status}`);
}

test('each episode is told once to each receiver, and once more when it ends', () => {
  const quiet = finding('webhook.quiet', true);
  const opened = follow(noAlerts, [quiet, finding('webhook.failing', false)]);
  expect(statuses(opened)).toEqual(['http://a open', 'http://b open']);
  expect(new Set(opened.messages.map(({ id }) => id)).size).toBe(2);
  expect(follow(opened, [quiet])).toBe(opened);
  const ended = follow(opened, [finding('webhook.quiet', false)]);
  expect(statuses(ended).slice(2)).toEqual(['http://a resolved', 'http://b resolved']);
  expect(ended.episodes).toEqual([]);
  const ids = ended.messages.map(({ body }) => JSON.parse(body).data.id);
  expect(new Set(ids).size).toBe(1);
  expect(follow(follow(ended, [quiet]), [quiet]).messages).toHaveLength(6);
});

test('episodes of other subjects, types and factories are others', () => {
  const all = [
    finding('webhook.quiet', true),
    finding('webhook.failing', true),
    finding('webhook.quiet', true, 'wh_2'),
    { ...finding('webhook.quiet', true), factory: 'second' },
  ];
  expect(follow(noAlerts, all).episodes).toHaveLength(4);
});

test('a webhook that fails now and then is failing until it has been calm for a minute', () => {
  const [wrong, fine] = [[finding('webhook.failing', true)], [finding('webhook.failing', false)]];
  const opened = follow(noAlerts, wrong);
  const calm = follow(opened, fine);
  expect(calm.episodes).toMatchObject([{ calmSinceMs: nowMs }]);
  const failing = follow(calm, wrong, nowMs + 59_000);
  expect(failing.episodes).toMatchObject([{ calmSinceMs: null }]);
  const again = follow(failing, fine, nowMs + 61_000);
  expect(follow(again, fine, nowMs + 120_999).episodes).toHaveLength(1);
  const ended = follow(again, fine, nowMs + 121_000);
  expect([ended.episodes, statuses(ended).length]).toEqual([[], 4]);
});

test('held runs are told again each day under the same ID, with what is wrong then; nothing else is', () => {
  const dayMs = 86_400_000;
  const wrong = (reason: string, type: Finding['type'] = 'runs.held'): Finding => {
    return { ...finding(type, true), problem: { reason, sinceMs: nowMs - 1 } };
  };
  const told = ({ messages }: AlertState) =>
    messages
      .map(({ body }) => JSON.parse(body).data)
      .map(({ id, status, reason }) => ({ id, status, reason }));
  const opened = follow(noAlerts, [wrong('first'), wrong('failing', 'runs.failing')]);
  expect(follow(opened, [wrong('second')], nowMs + dayMs - 1)).toBe(opened);
  const again = follow(opened, [wrong('second'), wrong('failing', 'runs.failing')], nowMs + dayMs);
  expect(told(again).slice(4)).toEqual(['second', 'second'].map(reason => ({ ...told(opened)[0], reason })));
  expect(new Set(again.messages.map(({ id }) => id)).size).toBe(6);
  expect(follow(again, [wrong('second')], nowMs + 2 * dayMs - 1)).toBe(again);
  expect(told(follow(again, [wrong('second')], nowMs + 2 * dayMs))).toHaveLength(8);
});

test('a factory that has used all places leaves each other factory its share, and is told once that it has', () => {
  const many = Array.from({ length: 1_100 }, (_, index) => finding('webhook.quiet', true, `wh_${index}`));
  const state = follow(noAlerts, many);
  const full = (of: AlertState) => of.episodes.filter(({ type }) => type === 'quota.full');
  expect(full(state)).toMatchObject([{ factory: 'default', subject: 'alerts' }]);
  expect([state.episodes.length, state.messages.length]).toEqual([1_001, 2_002]);
  const others = many.map(one => ({ ...one, factory: 'other' }));
  const own = { ...finding('log.unwritable', true), factory: '' };
  const shared = follow(state, [...others, own]);
  expect(shared.episodes.filter(({ factory }) => factory === 'other')).toHaveLength(51);
  expect(shared.episodes.filter(({ factory }) => factory === '')).toHaveLength(1);
  // A place that is free again does not end it at once.
  const sent = { ...state, messages: [] };
  const fewer = follow(follow(sent, [finding('webhook.quiet', false, 'wh_0')]), []);
  expect(full(fewer)).toMatchObject([{ calmSinceMs: nowMs }]);
  const again = follow(fewer, many.slice(-2), nowMs + 1);
  expect([again.episodes.length, full(again)[0]?.calmSinceMs]).toEqual([1_001, null]);
  const calm = follow(follow(again, [finding('webhook.quiet', false, 'wh_1')]), []);
  expect(full(follow(calm, [], nowMs + 600_000))).toEqual([]);
});

test('what cannot be sent keeps only the messages of its own factory waiting, and none is dropped', () => {
  const flap = (state: AlertState, factory: string) => {
    const found = (isWrong: boolean) => ({ ...finding('webhook.quiet', isWrong), factory });
    return follow(follow(state, [found(true)]), [found(false)]);
  };
  let state = noAlerts;
  for (let n = 0; n < 700; n++) state = flap(state, 'default');
  const kept = state.messages.length;
  expect(kept).toBeLessThan(2_010);
  expect(state.episodes).toContainEqual(
    expect.objectContaining({ type: 'quota.full', factory: 'default', subject: 'messages' }),
  );
  const other = follow(state, [{ ...finding('runs.held', true, 'triage'), factory: 'other' }]);
  expect(other.messages.slice(0, kept)).toEqual(state.messages);
  expect(other.messages.slice(kept).map(({ factory }) => factory)).toEqual(['other', 'other']);
  // The episode for which there was no room is told once there is.
  const wrong = follow(state, [finding('webhook.quiet', true)]);
  expect(wrong.messages).toEqual(state.messages);
  const emptied = follow({ ...wrong, messages: [] }, []);
  expect(emptied.messages.map(({ factory }) => factory)).toContain('default');
});

test('an episode that began before there were receivers is told to the first ones', () => {
  const quiet = finding('webhook.quiet', true);
  const unheard = followEpisodes(noAlerts, [quiet], { ...context, receivers: [] });
  expect(unheard.episodes).toHaveLength(1);
  expect(statuses(unheard)).toEqual([]);
  expect(statuses(follow(unheard, []))).toEqual(['http://a open', 'http://b open']);
});

test('what was stored 6 hours ahead counts as now: nobody waits until the clock has caught up', () => {
  const hourMs = 3_600_000;
  const [failing, held] = [finding('webhook.failing', true), finding('runs.held', true, 'deploy')];
  const opened = follow(noAlerts, [failing, held], nowMs + 6 * hourMs);
  const [first, ...others] = opened.episodes;
  const by = 'ada';
  const times = { fromMs: nowMs + 6 * hourMs, untilMs: nowMs + 7 * hourMs };
  const muted = { ...first, muted: { ...times, by }, calmSinceMs: nowMs + 6 * hourMs };
  const waiting = opened.messages.map(message => ({ ...message, dueMs: message.fromMs + 600_000 }));
  const receivers = [{ name: 'http://a', format: 'slack', host: null, secret: 'A', last: null }] as const;
  const known = receivers.map(one => ({ ...one, sinceMs: nowMs + 6 * hourMs }));
  const ahead = {
    ...opened,
    episodes: [muted, ...others],
    messages: waiting,
    receivers: known,
  } as AlertState;
  const settled = follow(ahead, []);
  expect(settled).toMatchObject({
    episodes: [
      { toldMs: nowMs, calmSinceMs: nowMs, muted: { fromMs: nowMs, untilMs: nowMs + hourMs, by } },
      { toldMs: nowMs },
    ],
    messages: waiting.map(() => ({ fromMs: nowMs, dueMs: nowMs + 600_000 })),
    receivers: [{ sinceMs: nowMs }],
  });
  expect(follow(settled, [], nowMs + 1)).toBe(settled);
  const ended = follow(settled, [finding('webhook.failing', false)], nowMs + 60_000);
  expect(ended.episodes).toHaveLength(1);
});
