import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { RecentCommit } from '../../../store/ports/reconcile-statuses.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { makeUpstream, secret, webhook } from '../../support/git-samples.ts';
import { send } from '../../support/http.ts';
import { type ApiClient, type ManagedDaemon, openManagedDaemon } from '../../support/management.ts';
import { query, useOwnPostgres } from '../../support/postgres.ts';

const server = useOwnPostgres();
const HOOKMILL_KEY = randomBytes(32).toString('base64');
/** The database of two replicas that several tests share. */
let url: string;
let one: ManagedDaemon;
let other: ManagedDaemon;
beforeAll(async () => {
  url = await server.createDatabaseWithTables();
  [one, other] = await openReplicas(url, { limits: { deliveriesPerMinute: 100_000 } });
});
afterAll(() => Promise.all([one.stop(), other.stop()]));

function openReplicas(url: string, settings: object): Promise<[ManagedDaemon, ManagedDaemon]> {
  return Promise.all([openReplica(url, settings), openReplica(url, settings)]);
}

function openReplica(url: string, settings?: object): Promise<ManagedDaemon> {
  const place = { environment: { HOOKMILL_KEY }, postgres: { url, mayLose: false } };
  return openManagedDaemon(settings, newHome(), place);
}

const factory = 'followed';
const upstream = makeUpstream(mkdtempSync(join(tmpdir(), 'hookmill-git-')));
upstream.commit({ 'webhooks/pay.yaml': webhook() }, 'Add pay');
/** Two replicas that follow a branch, and take few deliveries of a webhook. */
let bounded: [ManagedDaemon, ManagedDaemon];
beforeAll(async () => {
  const repositories = [{ factory, repository: upstream.bare, interval: '1h' }];
  const settings = { repositories, limits: { deliveriesPerMinute: 20 } };
  bounded = await openReplicas(await server.createDatabaseWithTables(), settings);
});
afterAll(() => Promise.all(bounded.map(replica => replica.stop())));

/** Starts two replicas with these settings for one test, on a database of their own. */
async function startReplicas(settings: object): Promise<[ManagedDaemon, ManagedDaemon]> {
  const replicas = await openReplicas(await server.createDatabaseWithTables(), settings);
  onTestFinished(async () => void (await Promise.all(replicas.map(replica => replica.stop()))));
  return replicas;
}

interface Webhook {
  readonly uid: string;
  /** Sends a delivery to a replica; returns the answer. */
  deliver(replica: ManagedDaemon, body: string): ReturnType<typeof send>;
}

/** Makes a webhook at the first replica, and waits until all serve it. */
async function makeWebhook(...replicas: readonly [ManagedDaemon, ...ManagedDaemon[]]): Promise<Webhook> {
  const manager = await replicas[0].client();
  const name = `hook-${randomBytes(4).toString('hex')}`;
  const { json } = await manager.call('createWebhook', { body: { name } });
  const { uid } = json.webhook;
  const headers = { authorization: `Bearer ${json.revealed.secret}` };
  const at = ({ ingressUrl }: ManagedDaemon) => `${ingressUrl}/webhooks/w/${uid}`;
  for (const replica of replicas) await eventually(async () => (await send(at(replica))).status === 401);
  return { uid, deliver: (replica, body) => send(at(replica), { headers, body }) };
}

test('two replicas serve what one applied, and decide together what is a duplicate', async () => {
  const { deliver } = await makeWebhook(one, other);
  const first = await deliver(one, '{"id":"evt_1"}');
  expect(first).toMatchObject({ status: 202 });
  expect(await deliver(other, '{"id":"evt_1"}')).toMatchObject({ status: 202, deliveryId: first.deliveryId });
  const manager = await other.client();
  const { json } = await manager.call('listDeliveries', { query: { outcome: 'Duplicate' } });
  expect(json.deliveries).toMatchObject([{ outcome: 'Duplicate', duplicateOf: first.deliveryId }]);
  expect((await manager.call('showStatus')).json.replicas.alive).toHaveLength(2);
});

test('what one replica destroyed and restored answers 404 and then 202 at both, and knows its deliveries', async () => {
  await one.store.teamSecrets.set('RESTORED', secret);
  const { call } = await one.client({ factory: 'restored' });
  const apply = async (webhooks: readonly string[]) => {
    const files = webhooks.map(name => ({
      path: `webhooks/${name}.yaml`,
      content: 'secretName: RESTORED\nenabled: true\n',
    }));
    const body = { files, origin: '/x', confirm: ['destroy'] };
    const { json } = await call('apply', { body });
    return json.webhooks.find(({ name }: { name: string }) => name === 'gone')?.uid;
  };
  const uid = await apply(['gone', 'stays']);
  const headers = { authorization: `Bearer ${secret}` };
  const sendTo = ({ ingressUrl }: ManagedDaemon) =>
    send(`${ingressUrl}/webhooks/w/${uid}`, { headers, body: '{"id":"evt_1"}' });
  const becomes = async (status: number) => {
    for (const replica of [one, other])
      await eventually(async () => (await sendTo(replica)).status === status);
  };
  await becomes(202);
  const { deliveryId } = await sendTo(one);
  await apply(['stays']);
  await becomes(404);
  expect(await apply(['gone', 'stays'])).toBe(uid);
  await becomes(202);
  expect(await sendTo(other)).toMatchObject({ deliveryId });
});

test('the limit of deliveries holds over all replicas', async () => {
  const [one, other] = bounded;
  const { deliver } = await makeWebhook(one, other);
  const replicas = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : other));
  const answers = await Promise.all(replicas.map((replica, index) => deliver(replica, `{"id":"${index}"}`)));
  const accepted = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status }) => status === 429);
  expect([accepted.length, refused.length]).toEqual([20, 20]);
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(50);
});

test('an episode is told once, also when the replica that found it is gone', async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const receiver = await startAlertReceiver(secret);
  const settings = { alerts: [{ url: receiver.url, secret: 'ALERTS' }] };
  const [one, other] = await startReplicas(settings);
  await one.store.teamSecrets.set('ALERTS', secret);
  const { uid, deliver } = await makeWebhook(one, other);
  const fail = ({ ingressUrl }: ManagedDaemon) => send(`${ingressUrl}/webhooks/w/${uid}`, { body: '{}' });
  await Promise.all(Array.from({ length: 20 }, (_, index) => fail(index % 2 === 0 ? one : other)));
  await eventually(() => receiver.alerts.length > 0);
  await one.stop();
  await deliver(other, '{"id":"evt_1"}');
  await eventually(async () => (await other.store.alerts.read()).episodes[0]?.calmSinceMs != null);
  other.clock.nowMs += 60_000;
  await eventually(() => receiver.alerts.length > 1);
  const told = receiver.alerts.map(({ type, data }) => `${type} ${data.status}`);
  expect(told).toEqual(['webhook.failing open', 'webhook.failing resolved']);
});

test('a replica tells of runs that failed in another one, before it was started', async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const receiver = await startAlertReceiver(secret);
  const url = await server.createDatabaseWithTables();
  const runner = { kind: 'command', argv: ['false'] };
  const one = await openReplica(url, { runs: { runner, attempts: 1 } });
  onTestFinished(() => one.stop());
  await one.store.teamSecrets.set('ALERTS', secret);
  const { uid, deliver } = await makeWebhook(one);
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  const body = { name: 'triage', prompt: 'Look.', triggers, order: '$.none', onFailure: 'hold' };
  await (await one.client()).call('createAutomation', { body });
  await deliver(one, '{}');
  const of = { factory: 'default', automation: 'triage' };
  await eventually(() => one.store.deliveries.findHoldingRun(of));
  const other = await openReplica(url, { alerts: [{ url: receiver.url, secret: 'ALERTS' }] });
  onTestFinished(() => other.stop());
  await eventually(() => receiver.alerts.length > 0);
  expect(receiver.alerts).toMatchObject([{ type: 'runs.held', data: { status: 'open' } }]);
});

test('a live view shows the deliveries to another replica', async () => {
  const { deliver } = await makeWebhook(one, other);
  const { token } = await one.client();
  const outgoing = request(`${one.managementUrl}/api/v1/factories/default/live-deliveries`, {
    headers: { authorization: `Bearer ${token}` },
  }).end();
  const [incoming] = await once(outgoing, 'response');
  onTestFinished(() => void outgoing.destroy());
  let seen = '';
  incoming.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
  });
  // The view shows what comes after the first look at the store, so one delivery may be too early.
  await eventually(async () => {
    await deliver(other, JSON.stringify({ id: randomBytes(8).toString('hex') }));
    return seen.includes('dlv_');
  });
});

test('the runs of a replica whose lease has ended are executed by another', async () => {
  const { uid, deliver } = await makeWebhook(one, other);
  const manager = await one.client();
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [uid] } }];
  await manager.call('createAutomation', { body: { name: 'act', prompt: 'Act.', triggers } });
  const runs = async () => (await manager.call('listRuns')).json.runs;
  await eventually(async () => {
    await deliver(one, JSON.stringify({ id: randomBytes(8).toString('hex') }));
    return (await runs()).length > 0;
  });
  await eventually(async () => (await runs()).every((run: { state: string }) => run.state === 'succeeded'));
  // As a replica leaves a run when it is killed.
  await query(url, "UPDATE hookmill.runs SET state = 'running', claimed_by = 'killed'");
  await eventually(async () => (await runs()).every((run: { state: string }) => run.state === 'succeeded'));
  expect((await runs()).every((run: { attempts: number }) => run.attempts === 2)).toBe(true);
});

test('a runner counts as offered as long as a replica that offers it is alive, whichever replica started last', async () => {
  const url = await server.createDatabaseWithTables();
  const deploy = { kind: 'directory', factories: ['*'] };
  const first = await openReplica(url, { runs: { runners: { deploy } } });
  const last = await openReplica(url, { runs: { runnerWaitSeconds: 0 } });
  onTestFinished(() => last.stop());
  const manager = await last.client();
  const list = async () =>
    (await manager.call('listRunners')).json.runners.map(({ name }: { name: string }) => name).sort();
  expect(await list()).toEqual(['default', 'deploy']);
  await first.stop();
  expect(await list()).toEqual(['default']);
});

test('a branch is looked at, and no longer, when any replica is asked, and then by one of them', async () => {
  const [here, there] = bounded;
  const [manager, otherManager] = [await here.client({ factory }), await there.client({ factory })];
  await here.store.teamSecrets.set('S', secret, factory);
  const readReconcile = async () => (await manager.call('showStatus')).json.reconcile;
  const become = async (replica: ApiClient, words: string[]) => {
    for (const { clock } of [here, there]) clock.nowMs += 1;
    expect(await replica.call('requestReconcile')).toMatchObject({ status: 202 });
    const subjectsOf = async () =>
      (await readReconcile()).recent.map(
        ({ commit, result }: RecentCommit) => `${commit.subject}: ${result}`,
      );
    await expect.poll(subjectsOf, { timeout: 30_000 }).toEqual(words);
    await expect.poll(async () => (await readReconcile()).askedAt).toBeNull();
  };
  await eventually(async () => (await readReconcile())?.followed);
  await become(manager, ['Add pay: applied']);
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: false\n') }, 'Disable pay');
  await become(otherManager, ['Disable pay: applied', 'Add pay: applied']);

  expect((await otherManager.call('suspendReconcile')).json.suspendedAt).toBe(
    (await readReconcile()).suspendedAt,
  );
  expect((await manager.call('requestReconcile')).json.code).toBe('reconcile-suspended');
  expect((await manager.call('resumeReconcile')).json).toEqual({ suspendedAt: null });
  upstream.commit({ 'webhooks/pay.yaml': 'authMode: tokn\nsecretName: S\n' }, 'Break pay');
  await become(otherManager, ['Break pay: refused', 'Disable pay: applied', 'Add pay: applied']);
  const { json } = await manager.call('listAudit');
  const changes = json.entries.map(({ operation }: { operation: string }) => operation);
  expect(changes.filter((operation: string) => operation.endsWith('Reconcile'))).toEqual([
    ...['requestReconcile', 'resumeReconcile', 'suspendReconcile'],
    ...['requestReconcile', 'requestReconcile'],
  ]);
});

test('a replica without its database refuses what it cannot record, and recovers by itself', async () => {
  const replica = await openReplica(await server.createDatabaseWithTables());
  onTestFinished(() => replica.stop());
  const { uid, deliver } = await makeWebhook(replica);
  const readyz = () => send(`${replica.managementUrl}/readyz`, { method: 'GET' });
  await server.stop('immediate');
  try {
    const refused = await deliver(replica, '{"id":"during"}');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    const unknown = `${replica.ingressUrl}/webhooks/w/wh_${'0'.repeat(24)}`;
    expect(await send(unknown, { body: '{}' })).toMatchObject({ status: 404 });
    const stranger = { headers: { authorization: 'Bearer wrong' }, body: '{}' };
    expect(await send(`${replica.ingressUrl}/webhooks/w/${uid}`, stranger)).toMatchObject({ status: 401 });
    await eventually(async () => (await readyz()).status === 503);
  } finally {
    await server.start();
  }
  await eventually(async () => (await readyz()).status === 200);
  expect(await deliver(replica, '{"id":"during"}')).toMatchObject({ status: 202 });
});
