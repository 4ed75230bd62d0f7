import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunControl } from '../../../../schema/definitions/automation-definition.ts';
import { eventually } from '../../../support/eventually.ts';
import { onFileFinished } from '../../../support/file-end.ts';
import { send } from '../../../support/http.ts';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import { type ManagedDaemon, openManagedDaemon, withNewFactory } from '../../../support/management.ts';
import { makeWorkspace } from '../../../support/workspace.ts';

/** A receiver of runs on loopback that ends each attempt when the test says so. */
async function startAgent(onEnd: (end: () => void) => void) {
  const working = new Map<string, (status: number) => void>();
  const origin = await startLoopbackServer(async (request, response) => {
    // A daemon that stops breaks off what it was about to send.
    if (!(await buffer(request).catch(() => undefined))) return;
    const id = String(request.headers['hookmill-run-id']);
    working.set(id, status => {
      working.delete(id);
      response.writeHead(status).end();
    });
  }, onEnd);
  return { url: `${origin}/`, working };
}

const agent = await startAgent(onFileFinished);
/** The daemon of all tests, which move its clock only forward. */
let shared: ManagedDaemon;
beforeAll(async () => {
  shared = await openManagedDaemon({ runs: { runner: { kind: 'http', url: agent.url } } });
});
afterAll(() => shared.stop());

/** A factory of the daemon with the automation `triage` that flows like this, and a command line that works on it. */
async function openScene(flow: RunControl) {
  const daemon = withNewFactory(shared);
  const manager = await daemon.client();
  const { webhook, revealed } = (await manager.call('createWebhook', { body: { name: 'issues' } })).json;
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid] } }];
  const body = { name: 'triage', prompt: 'Look.', triggers, ...flow };
  expect((await manager.call('createAutomation', { body })).status).toBe(201);
  const headers = { authorization: `Bearer ${revealed.secret}` };
  const post = async (payload: object) =>
    (await send(webhook.url, { headers, body: JSON.stringify(payload) })).deliveryId ?? '';
  const runOf = async (delivery: string) =>
    (await manager.call('showDelivery', { params: { delivery } })).json.runs[0];
  const env = {
    HOOKMILL_SERVER: daemon.managementUrl,
    HOOKMILL_TOKEN: manager.token,
    HOOKMILL_FACTORY: daemon.factory,
  };
  const workspace = makeWorkspace();
  const hookmill = (...args: string[]) => workspace.hookmill(...args, { env });
  /** Waits until the run of a delivery is in a state, and returns the run. */
  const runThat = (delivery: string, state: object) =>
    eventually(async () => {
      const run = await runOf(delivery);
      return Object.entries(state).every(([key, value]) => run?.[key] === value) && run;
    });
  const start = (delivery: string) => eventually(async () => agent.working.get((await runOf(delivery)).id));
  return { daemon, manager, agent, post, runOf, runThat, start, hookmill };
}

test('a limit: the runs of one value wait for a place, and say so', async () => {
  const { manager, post, runThat, start, hookmill } = await openScene({
    concurrency: 1,
    concurrencyKey: '$.repo',
  });
  const [first, second, other] = [
    await post({ repo: 'a', n: 1 }),
    await post({ repo: 'a', n: 2 }),
    await post({ repo: 'b' }),
  ];
  await start(other);
  const end = await start(first);
  const { id } = await runThat(second, { state: 'queued', waitsFor: 'limit' });
  const lane = { kind: 'limit', field: '$.repo', value: 'a' };
  expect((await manager.call('showRun', { params: { run: id } })).json.lane).toEqual(lane);
  expect((await hookmill('runs', 'list')).stdout).toMatch(
    new RegExp(`${id} .* queued \\(waits for other runs to end\\)`),
  );
  expect((await hookmill('runs', 'show', id)).stdout).toMatch(
    /state +queued \(waits for other runs to end\).*next attempt +-\n/s,
  );
  const why = await hookmill('why', second);
  expect(why).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('waits for other runs to end') });
  end(204);
  await start(second);
});

test('an order: a failed run holds those behind it until it is dismissed', async () => {
  const { manager, post, runThat, start, hookmill } = await openScene({
    order: '$.issue',
    onFailure: 'hold',
  });
  const [first, second] = [await post({ issue: 1 }), await post({ issue: 1, n: 2 })];
  const end = await start(first);
  await runThat(second, { state: 'queued', waitsFor: 'order' });
  end(400);
  const failed = await runThat(first, { state: 'failed' });
  const [held] = (await manager.call('listRuns', { query: { state: 'queued' } })).json.runs;
  expect(held).toMatchObject({ heldBy: failed.id, attemptsMax: 3 });
  const shown = (await manager.call('showRun', { params: { run: held.id } })).json;
  expect(shown).toMatchObject({ heldBy: failed.id, lane: { kind: 'order', field: '$.issue', value: 1 } });
  expect((await hookmill('runs', 'list')).stdout).toContain('failed (the next runs wait behind it)');
  // A change of the automation holds for later deliveries.
  await manager.call('deleteAutomation', { params: { automation: 'triage' } });
  for (const subject of [second, held.id]) {
    const why = await hookmill('why', subject);
    expect(why.stdout).toContain(
      `waits for an earlier run; ${failed.id} failed and holds the runs behind it`,
    );
    expect(why.stdout).toContain(`\`hookmill runs dismiss ${failed.id}\``);
  }
  const refused = await manager.call('dismissRun', { params: { run: held.id } });
  expect(refused).toMatchObject({ status: 409, json: { code: 'run-not-failed' } });
  expect((await hookmill('runs', 'dismiss', failed.id)).stderr).toContain(`Dismissed ${failed.id}.`);
  (await start(second))(204);
  await runThat(second, { state: 'succeeded' });
  await runThat(first, { state: 'failed', dismissed: true });
  expect((await hookmill('why', first)).stdout).toContain('failed, and was dismissed');
  expect((await hookmill('runs', 'retry', '--state', 'failed', '--dry-run')).stderr).toContain(
    '0 runs to retry',
  );
  await hookmill('runs', 'retry', failed.id);
  expect((await runThat(first, { attempts: 1 })).dismissed).toBeUndefined();
});

test('attempts: a run shows when each began and ended, and the hours count its end', async () => {
  const { daemon, manager, post, runThat, start, hookmill } = await openScene({
    attempts: 2,
    timeLimit: '5s',
  });
  const tallies = async () => (await manager.call('showRunTallies')).json;
  expect(await tallies()).toMatchObject({
    automations: [{ automation: 'triage', lastRun: null }],
    now: { running: 0, queued: 0, held: 0, waiting: 0 },
    duration: { day: null, dayBefore: null },
  });
  const beganMs = daemon.clock.nowMs;
  const delivery = await post({ issue: 1 });
  const show = async (id: string) => (await manager.call('showRun', { params: { run: id } })).json;
  const end = await start(delivery);
  const { id } = await runThat(delivery, { state: 'running' });
  const [startedAt, limits] = [new Date(beganMs).toISOString(), { attemptsMax: 2, timeLimitSeconds: 5 }];
  expect(await show(id)).toMatchObject({ ...limits, history: [{ attempt: 1, startedAt, endedAt: null }] });
  const ofDelivery = (await manager.call('showDelivery', { params: { delivery } })).json;
  expect(ofDelivery.runs).toMatchObject([{ id, attempts: 1, attemptsMax: 2 }]);
  expect((await hookmill('runs', 'show', id)).stdout).toContain(`1: ${startedAt} to now`);
  expect((await tallies()).now).toEqual({ running: 1, queued: 0, held: 0, waiting: 0 });
  daemon.clock.nowMs += 1_000;
  end(503);
  await runThat(delivery, { state: 'queued' });
  daemon.clock.nowMs += 20_000;
  (await start(delivery))(400);
  await runThat(delivery, { state: 'failed' });
  const { history } = await show(id);
  expect(history).toEqual([
    {
      attempt: 1,
      startedAt,
      endedAt: new Date(beganMs + 1_000).toISOString(),
      error: expect.stringContaining('503'),
    },
    {
      attempt: 2,
      startedAt: expect.any(String),
      endedAt: expect.any(String),
      error: expect.stringContaining('400'),
    },
  ]);
  expect((await hookmill('runs', 'show', id)).stdout).toMatch(/attempts +2 of 2\n +1: .* 503.*\n +2: /);
  const { automations, duration } = await tallies();
  const none = Array(167).fill(0);
  expect(automations).toEqual([
    {
      automation: 'triage',
      ...{ succeeded: [...none, 0], failed: [...none, 1], cancelled: [...none, 0] },
      lastRun: { id, state: 'failed', at: new Date(beganMs + 21_000).toISOString() },
    },
  ]);
  expect(duration).toEqual({
    day: { medianMs: expect.any(Number), p90Ms: duration.day.medianMs },
    dayBefore: null,
  });
  expect(Math.abs(duration.day.medianMs - 21_000)).toBeLessThan(21_000 * 0.05);
});

test('a burst: its deliveries show the run that took them up, and the run shows all of them', async () => {
  const { daemon, post, runThat, start, runOf, manager, hookmill } = await openScene({
    debounce: { for: '30s', key: '$.pull' },
  });
  const [first, other, second] = [
    await post({ pull: 1 }),
    await post({ pull: 2 }),
    await post({ pull: 1, n: 2 }),
  ];
  const { id } = await runThat(first, { state: 'queued', waitsFor: 'deliveries', deliveryCount: 2 });
  expect([(await runOf(second)).id, (await runOf(other)).id]).toEqual([id, expect.not.stringContaining(id)]);
  const shown = (await manager.call('showRun', { params: { run: id } })).json;
  expect(shown).toMatchObject({ deliveryId: second, deliveries: [{ id: first }, { id: second }] });
  expect((await hookmill('runs', 'list')).stdout).not.toContain('newest of 1');
  const text = (await hookmill('runs', 'show', id)).stdout;
  expect(text).toMatch(new RegExp(`delivery +${second} \\(newest of 2\\)\\n +${first} .*\\n +${second} `));
  expect((await hookmill('why', first)).stdout).toMatch(/waits for more deliveries until \d{4}-/);
  daemon.clock.nowMs += 30_000;
  (await start(first))(204);
  await runThat(second, { id, state: 'succeeded' });
});
