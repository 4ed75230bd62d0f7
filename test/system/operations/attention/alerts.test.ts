import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  acknowledgeAlert,
  listAlerts,
  listOpenAlerts,
  muteAlert,
} from '../../../../operations/attention/alerts.ts';
import { type Finding, followEpisodes } from '../../../../operations/attention/follow-episodes.ts';
import { newHome } from '../../../support/factory.ts';
import { storeIn } from '../../../support/stored.ts';

const startMs = Date.parse('2026-01-02T03:04:05Z');
const minuteMs = 60_000;
const dayMs = 86_400_000;

/** A store whose alerts follow findings. */
function openAlerts() {
  const store = storeIn(newHome());
  const follow = async (isHeld: boolean, nowMs: number) => {
    const problem = isHeld ? { reason: 'run_1 failed', sinceMs: startMs, run: 'run_1' } : null;
    const held: Finding = {
      type: 'runs.held',
      factory: 'default',
      subject: 'triage',
      name: 'triage',
      problem,
    };
    const context = { nowMs, randomBytes, receivers: ['http://a'], dashboardUrl: 'http://c' };
    const { messages } = await store.alerts.change(state => followEpisodes(state, [held], context));
    return messages.map(({ body }) => JSON.parse(body).data);
  };
  const change = (id: string, nowMs = startMs) => ({ store, factory: 'default', id, nowMs, by: 'ada' });
  const list = async (factory = 'default') => (await listAlerts(store, factory, 'read')).alerts;
  return { store, follow, change, list };
}

test('a resolved alert says what was wrong and for how long, and stays in the list', async () => {
  const { store, follow, list } = openAlerts();
  await follow(true, startMs);
  const [open] = await list();
  expect(open).toMatchObject({ status: 'open', automation: 'triage', until: null, acknowledged: null });
  expect(open?.remedy).toContain('hookmill runs retry run_1');
  const listOpen = (factories?: string[]) => listOpenAlerts(store, factories);
  expect(await listOpen()).toMatchObject([{ id: open?.id, factory: 'default', run: 'run_1' }]);
  expect([await listOpen(['other']), (await listOpen(['default'])).length]).toEqual([[], 1]);
  const [, resolved] = await follow(false, startMs + 12 * minuteMs);
  expect(resolved).toMatchObject({
    ...{ id: open?.id, status: 'resolved', reason: 'run_1 failed', remedy: null },
    ...{ summary: 'resolved after 12 minutes: run_1 failed', until: '2026-01-02T03:16:05.000Z' },
  });
  expect(await list()).toMatchObject([
    { id: open?.id, status: 'resolved', until: '2026-01-02T03:16:05.000Z' },
  ]);
  expect(await listOpen()).toEqual([]);
});

test('open alerts of all factories are listed, the worst first', async () => {
  const { store } = openAlerts();
  const context = { nowMs: startMs, randomBytes, receivers: [], dashboardUrl: 'http://c' };
  const find = (type: Finding['type'], factory: string, sinceMs = startMs): Finding => ({
    ...{ type, factory, subject: `${type} ${sinceMs}`, name: 'x', problem: { reason: 'so', sinceMs } },
  });
  const findings = [
    find('runs.failing', 'a'),
    find('runs.held', 'b', startMs + minuteMs),
    find('runs.held', 'a'),
  ];
  await store.alerts.change(state => followEpisodes(state, findings, context));
  const listed = await listOpenAlerts(store, undefined);
  expect(listed.map(({ type, factory }) => `${type} ${factory}`)).toEqual([
    ...['runs.held a', 'runs.held b', 'runs.failing a'],
  ]);
});

test('an acknowledged alert is not told again, only when it is resolved', async () => {
  const { follow, change, list } = openAlerts();
  await follow(true, startMs);
  expect(await follow(true, startMs + dayMs)).toHaveLength(2);
  const id = (await list())[0]?.id ?? '';
  expect(await acknowledgeAlert(change(id))).toMatchObject({ acknowledged: { by: 'ada' } });
  expect(await follow(true, startMs + 2 * dayMs)).toHaveLength(2);
  expect((await follow(false, startMs + 3 * dayMs)).at(-1)).toMatchObject({ status: 'resolved' });
  await expect(acknowledgeAlert(change(id))).rejects.toMatchObject({ code: 'alert-resolved' });
});

test('while an alert is muted, nobody is told that it opens again; if it is open afterwards, they are', async () => {
  const { follow, change, list } = openAlerts();
  await follow(true, startMs);
  const [first] = await list();
  expect(await muteAlert(change(first?.id ?? ''), 3_600)).toMatchObject({
    muted: { at: '2026-01-02T04:04:05.000Z', by: 'ada' },
  });
  // Whoever was told that it is open gets to know its end.
  expect(await follow(false, startMs + minuteMs)).toHaveLength(2);
  expect(await follow(true, startMs + 2 * minuteMs)).toHaveLength(2);
  expect(await follow(false, startMs + 3 * minuteMs)).toHaveLength(2);
  expect(await follow(true, startMs + 4 * minuteMs)).toHaveLength(2);
  expect(await follow(true, startMs + 60 * minuteMs)).toHaveLength(3);
  expect((await list()).map(({ status }) => status)).toEqual(['open', 'resolved', 'resolved']);
});

test('an alert is told again once it is no longer muted', async () => {
  const { follow, change, list } = openAlerts();
  await follow(true, startMs);
  const id = (await list())[0]?.id ?? '';
  await muteAlert(change(id), 7 * 86_400);
  expect(await follow(true, startMs + 2 * dayMs)).toHaveLength(1);
  await muteAlert(change(id), 0);
  expect(await follow(true, startMs + 2 * dayMs)).toHaveLength(2);
});

test('the alerts of other factories are unknown', async () => {
  const { follow, change, list } = openAlerts();
  await follow(true, startMs);
  const other = { ...change((await list())[0]?.id ?? ''), factory: 'other' };
  await expect(acknowledgeAlert(other)).rejects.toMatchObject({ code: 'alert-unknown' });
  await expect(muteAlert(other, 60)).rejects.toMatchObject({ code: 'alert-unknown' });
  expect(await list('other')).toEqual([]);
});

test('the last 50 that were resolved are kept', async () => {
  const { follow, list } = openAlerts();
  for (let n = 0; n < 52; n++) {
    await follow(true, startMs + n * minuteMs);
    await follow(false, startMs + n * minuteMs);
  }
  expect(await list()).toHaveLength(50);
});
