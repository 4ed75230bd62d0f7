import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { suspendReconcile } from '../../../../operations/branch/reconcile.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { bearerOf, startDaemon, type TestDaemon } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeUpstream, secret, type Upstream, webhook } from '../../../support/git-samples.ts';
import { serveSilence } from '../../../support/git-servers.ts';
import { send } from '../../../support/http.ts';
import { factoryIn, readStore } from '../../../support/stored.ts';
import { openWebhookDaemon, startWebhookDaemon } from '../../../support/webhook-daemon.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

/** A workspace whose home has the team secret S. */
async function makeHome(): Promise<Workspace> {
  const workspace = makeWorkspace();
  await readStore(homeAt(workspace.home), ({ teamSecrets }) => teamSecrets.set('S', secret));
  return workspace;
}

type Following = Pick<TestDaemon, 'workspace' | 'ingressUrl' | 'readyz'> & { stop(): Promise<unknown> };

/** Starts a daemon for the tests of a group, each of which has factories of its own. */
function useFollowing<Daemon extends Following>(start: (workspace: Workspace) => Promise<Daemon>) {
  let daemon: Daemon;
  beforeAll(async () => {
    daemon = await start(await makeHome());
  });
  afterAll(() => daemon.stop());
  return () => daemon;
}

/** A repository with one webhook, which outlives a test. */
function pushed(): Upstream {
  const upstream = makeUpstream(mkdtempSync(join(tmpdir(), 'hookmill-git-')));
  upstream.commit({ 'webhooks/push.yaml': webhook() }, 'Add push');
  return upstream;
}

async function factoryOf(daemon: Pick<TestDaemon, 'readyz'>, name: string) {
  return (await daemon.readyz()).factories.find(({ factory }) => factory === name);
}

/** Resolves once the daemon serves so many webhooks of the factory. */
async function serves(daemon: Pick<TestDaemon, 'readyz'>, webhooks: number, name: string): Promise<void> {
  await eventually(async () => (await factoryOf(daemon, name))?.webhooks === webhooks);
}

async function urlOf({ workspace, ingressUrl }: Following, name: string, factory: string): Promise<string> {
  const { webhooks } = await readStore(homeAt(workspace.home), store => store.appliedStates.read(factory));
  return `${ingressUrl}/webhooks/w/${webhooks.find(webhook => webhook.name === name)?.uid}`;
}

const hourly = { interval: '1h' };
const credential = { headers: bearerOf(secret) };

describe('a daemon that looks each second', () => {
  const [followed, faulty, kept] = [pushed(), pushed(), pushed()];
  const entry = { factory: 'kept', repository: kept.bare, trigger: 'push', ...hourly };
  const following = useFollowing(workspace =>
    startDaemon({
      workspace,
      args: ['--repository', followed.bare, '--interval', '1s'],
      settings: { repositories: [{ factory: 'faulty', repository: faulty.bare, interval: '1s' }, entry] },
    }),
  );
  /** Looks at the branch cost more than the rest of a test, so none goes on after it. */
  const suspend = (factory: string, suspended = true) =>
    suspendReconcile(factoryIn(homeAt(following().workspace.home), factory), suspended);

  test('serves a push to the branch within the interval, and ignores other branches', async () => {
    const daemon = following();
    await serves(daemon, 1, 'default');
    const checkOut = (branch: string) =>
      writeFileSync(join(followed.bare, 'HEAD'), `ref: refs/heads/${branch}\n`);
    checkOut('feature');
    const other = followed.commit({ 'webhooks/feature.yaml': webhook('S', 'authMode: url_token\n') });
    checkOut('main');
    const revision = followed.commit({
      'webhooks/feature.yaml': null,
      'webhooks/pay.yaml': webhook('S', 'enabled: true\n'),
    });
    await serves(daemon, 2, 'default');
    await expect
      .poll(async () => (await factoryOf(daemon, 'default'))?.reconcile)
      .toMatchObject({ tip: { revision }, failingSince: null });
    expect(await urlOf(daemon, 'feature', 'default')).toMatch(/undefined$/);
    expect(JSON.stringify(await daemon.readyz())).not.toContain(other);
    await suspend('default');
  });

  test('a broken merge changes nothing and is reported with file, line and commit; the fix recovers by itself', async () => {
    const daemon = following();
    await serves(daemon, 1, 'faulty');
    const broken = faulty.commit({ 'webhooks/pay.yaml': 'authMode: tokn\nsecretName: S\n' }, 'Break pay');
    await eventually(async () => (await factoryOf(daemon, 'faulty'))?.reconcile?.failingSince);
    expect((await daemon.readyz()).status).toBe('ready');
    expect(await factoryOf(daemon, 'faulty')).toMatchObject({
      webhooks: 1,
      reconcile: {
        commitsBehind: 1,
        lastFailure: {
          reason: 'invalid',
          tip: { revision: broken, subject: 'Break pay' },
          diagnostics: [{ file: 'webhooks/pay.yaml', range: { start: { line: 1, column: 11 } } }],
        },
      },
    });
    const metrics = await daemon.metrics();
    expect(metrics).toContain('hookmill_reconcile_failing{factory="faulty"} 1');
    expect(metrics).toContain('hookmill_reconcile_commits_behind{factory="faulty"} 1');
    expect(metrics).toMatch(/hookmill_reconcile_last_success_timestamp_seconds\{factory="faulty"\} \d{10}/);
    const url = await urlOf(daemon, 'push', 'faulty');
    expect(await send(url, { ...credential, body: '{}' })).toMatchObject({ status: 202 });

    faulty.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
    await serves(daemon, 2, 'faulty');
    // The webhooks are served before the reconcile has written how it ended.
    await expect.poll(() => daemon.metrics()).toContain('hookmill_reconcile_failing{factory="faulty"} 0');
    await suspend('faulty');
  });

  // Ends the daemon of the group.
  test('keeps to a suspension, and to the last good state over a restart without its remote', async () => {
    const daemon = following();
    const { workspace } = daemon;
    await serves(daemon, 1, 'kept');
    await suspend('kept');
    expect(await daemon.metrics()).toContain('hookmill_reconcile_suspended{factory="kept"} 1');
    expect(await daemon.stop()).toBe(0);

    await suspend('kept', false);
    const gone = { ...entry, repository: '/nonexistent.git' };
    const next = await startWebhookDaemon({ workspace, settings: { repositories: [gone] } });
    const failed = async () => (await factoryOf(next, 'kept'))?.reconcile?.lastFailure;
    expect(await eventually(failed)).toMatchObject({ reason: 'remote' });
    const url = await urlOf(next, 'push', 'kept');
    expect(await send(url, { ...credential, body: '{}' })).toMatchObject({ status: 202 });
  });
});

describe('a daemon that looks when it is told to', () => {
  const [triggered, hooks, pay] = [pushed(), pushed(), pushed()];
  const logged = makeUpstream(mkdtempSync(join(tmpdir(), 'hookmill-git-')));
  const loggedRevision = logged.commit({ 'webhooks/push.yaml': webhook() }, 'Add \x1b[31mpush');
  const repositories = [
    { factory: 'triggered', repository: triggered.bare, trigger: 'push', ...hourly },
    { factory: 'hooks', repository: hooks.bare, ...hourly },
    { factory: 'pay', repository: pay.bare, trigger: 'hooks/push', ...hourly },
    { factory: 'logged', repository: logged.bare, ...hourly },
  ];
  const following = useFollowing(workspace => openWebhookDaemon({ workspace, settings: { repositories } }));

  test("several factories follow their own repositories, one triggered by another's webhook", async () => {
    const daemon = following();
    await serves(daemon, 1, 'hooks');
    await serves(daemon, 1, 'pay');
    pay.commit({ 'webhooks/more.yaml': webhook('S', 'enabled: true\n') });
    await send(await urlOf(daemon, 'push', 'hooks'), { ...credential, body: '{}' });
    await serves(daemon, 2, 'pay');
  });

  test('each row of the delivery log has the applied commit, rejected ones too, with its text escaped', async () => {
    const daemon = following();
    const { workspace } = daemon;
    await serves(daemon, 1, 'logged');
    const url = await urlOf(daemon, 'push', 'logged');
    const { deliveryId = '' } = await send(url, { ...credential, body: '{}' });
    await send(url, { ...credential, body: '{}' });
    await send(url, { headers: bearerOf('wrong'), body: '{}' });
    const list = () =>
      readStore(homeAt(workspace.home), store =>
        store.deliveries.listDeliveries({ factory: 'logged', limit: 9 }),
      );
    // The row of a rejection is written after the answer.
    const deliveries = await eventually(async () => [await list()].find(({ length }) => length === 3));
    const commit = { revision: loggedRevision, author: 'Ada', subject: 'Add \x1b[31mpush' };
    expect(deliveries).toMatchObject([
      { outcome: 'Rejected (auth)', commit },
      { outcome: 'Duplicate', commit },
      { outcome: 'Accepted', commit },
    ]);
    const shown = await workspace.hookmill('deliveries', 'show', deliveryId, '--factory', 'logged');
    expect(shown.stdout).toContain(`${commit.revision.slice(0, 7)} "Add \\x1b[31mpush" (Ada)`);
  });

  // Ends the daemon of the group.
  test('an accepted delivery of the trigger is looked into at once; a refused or duplicate one is not', async () => {
    const daemon = following();
    const lines = () =>
      daemon
        .logged()
        .split('\n')
        .filter(line => line.includes('"factory":"triggered"'))
        .flatMap(line => line.match(/applied the tip of the branch|"reconciled"/g) ?? []);
    await serves(daemon, 1, 'triggered');
    const url = await urlOf(daemon, 'push', 'triggered');
    expect(await send(url, { ...credential, body: '{"push":1}' })).toMatchObject({ status: 202 });
    await eventually(() => lines().length === 2);

    expect(await send(url, { ...credential, body: '{"push":1}' })).toMatchObject({ status: 202 });
    expect(await send(url, { headers: bearerOf('wrong'), body: '{"push":2}' })).toMatchObject({
      status: 401,
    });
    triggered.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
    expect(await send(url, { ...credential, body: '{"push":3}' })).toMatchObject({ status: 202 });
    await eventually(() => lines().length === 3);
    await daemon.stop();
    const applied = 'applied the tip of the branch';
    expect(lines()).toEqual([applied, '"reconciled"', applied]);
  });
});

test('a dead remote delays neither another factory, nor the ingress, nor the end', async () => {
  const [upstream, silence] = [makeUpstream(), await serveSilence()];
  upstream.commit({ 'webhooks/push.yaml': webhook() });
  const repositories = [
    { factory: 'dead', repository: `git://127.0.0.1:${silence.port}/hooks.git` },
    { repository: upstream.bare, interval: '1s' },
  ];
  const daemon = await startWebhookDaemon({ workspace: await makeHome(), settings: { repositories } });
  const socket = await silence.connected;
  onTestFinished(() => void socket.destroy());
  await serves(daemon, 1, 'default');
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
  await serves(daemon, 2, 'default');
  const url = await urlOf(daemon, 'push', 'default');
  expect(await send(url, { ...credential, body: '{}' })).toMatchObject({ status: 202 });
  expect(socket.closed).toBe(false);
  await daemon.stop();
  await eventually(() => socket.closed);
});
