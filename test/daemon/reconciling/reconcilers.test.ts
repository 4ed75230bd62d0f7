import { expect, onTestFinished, test } from 'vitest';
import { bearerOf, type DaemonOptions, startDaemonForTest, type TestDaemon } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { makeUpstream, secret, type Upstream, webhook } from '../../support/git-samples.ts';
import { serveSilence } from '../../support/git-servers.ts';
import { send } from '../../support/http.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** A daemon on a home that has the team secret S. */
async function startFollowing(options: DaemonOptions): Promise<TestDaemon> {
  const workspace = makeWorkspace();
  await workspace.hookmill('secrets', 'set', 'S', { stdin: secret });
  await workspace.hookmill('secrets', 'share', 'S', '--all-factories');
  return startDaemonForTest({ workspace, ...options });
}

function pushed(): Upstream {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/push.yaml': webhook() }, 'Add push');
  return upstream;
}

async function factoryOf(daemon: TestDaemon, name = 'default') {
  return (await daemon.readyz()).factories.find(({ factory }) => factory === name);
}

/** Resolves once the daemon serves so many webhooks of the factory. */
async function serves(daemon: TestDaemon, webhooks: number, name = 'default'): Promise<void> {
  await eventually(async () => (await factoryOf(daemon, name))?.webhooks === webhooks);
}

async function urlOf(daemon: TestDaemon, name: string, factory = 'default'): Promise<string> {
  const { stdout } = await daemon.workspace.hookmill(
    '--factory',
    factory,
    'webhooks',
    'show',
    name,
    '-o',
    'json',
  );
  return `${daemon.ingressUrl}/webhooks/w/${JSON.parse(stdout).uid}`;
}

const hourly = { interval: '1h' };
const credential = { headers: bearerOf(secret) };

test('serves a push to the branch within the interval, and ignores other branches', async () => {
  const upstream = pushed();
  const daemon = await startFollowing({ args: ['--repository', upstream.bare, '--interval', '1s'] });
  await serves(daemon, 1);
  upstream.git('checkout', '--quiet', '-b', 'feature');
  const other = upstream.commit({ 'webhooks/feature.yaml': webhook('S', 'authMode: url_token\n') });
  upstream.git('checkout', '--quiet', 'main');
  const revision = upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
  await serves(daemon, 2);
  await expect
    .poll(async () => (await factoryOf(daemon))?.reconcile)
    .toMatchObject({ tip: { revision }, failingSince: null });
  expect(await daemon.workspace.hookmill('webhooks', 'show', 'feature')).toMatchObject({ exitCode: 1 });
  expect(JSON.stringify(await daemon.readyz())).not.toContain(other);
});

test('a broken merge changes nothing and is reported with file, line and commit; the fix recovers by itself', async () => {
  const upstream = pushed();
  const daemon = await startFollowing({ args: ['--repository', upstream.bare, '--interval', '1s'] });
  await serves(daemon, 1);
  const broken = upstream.commit({ 'webhooks/pay.yaml': 'authMode: tokn\nsecretName: S\n' }, 'Break pay');
  await eventually(async () => (await factoryOf(daemon))?.reconcile?.failingSince);
  expect(await daemon.readyz()).toMatchObject({
    status: 'ready',
    factories: [
      {
        webhooks: 1,
        reconcile: {
          commitsBehind: 1,
          lastFailure: {
            reason: 'invalid',
            tip: { revision: broken, subject: 'Break pay' },
            diagnostics: [{ file: 'webhooks/pay.yaml', range: { start: { line: 1, column: 11 } } }],
          },
        },
      },
    ],
  });
  const metrics = await daemon.metrics();
  expect(metrics).toContain('hookmill_reconcile_failing{factory="default"} 1');
  expect(metrics).toContain('hookmill_reconcile_commits_behind{factory="default"} 1');
  expect(metrics).toMatch(/hookmill_reconcile_last_success_timestamp_seconds\{factory="default"\} \d{10}/);
  const url = await urlOf(daemon, 'push');
  expect(await send(url, { ...credential, body: '{}' })).toMatchObject({ status: 202 });

  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
  await serves(daemon, 2);
  // The webhooks are served before the reconcile has written how it ended.
  await expect.poll(() => daemon.metrics()).toContain('hookmill_reconcile_failing{factory="default"} 0');
});

test('an accepted delivery of the trigger is looked into at once; a refused or duplicate one is not', async () => {
  const upstream = pushed();
  const entry = { repository: upstream.bare, trigger: 'push', ...hourly };
  const args = ['--log-level', 'debug'];
  const daemon = await startFollowing({ args, settings: { repositories: [entry] } });
  const lines = () => daemon.stderr().match(/applied the tip of the branch|"reconciled"/g) ?? [];
  await serves(daemon, 1);
  const url = await urlOf(daemon, 'push');
  expect(await send(url, { ...credential, body: '{"push":1}' })).toMatchObject({ status: 202 });
  await eventually(() => lines().length === 2);

  expect(await send(url, { ...credential, body: '{"push":1}' })).toMatchObject({ status: 202 });
  expect(await send(url, { headers: bearerOf('wrong'), body: '{"push":2}' })).toMatchObject({ status: 401 });
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
  expect(await send(url, { ...credential, body: '{"push":3}' })).toMatchObject({ status: 202 });
  await eventually(() => lines().length === 3);
  expect(await daemon.stop()).toBe(0);
  expect(lines()).toEqual(['applied the tip of the branch', '"reconciled"', 'applied the tip of the branch']);
});

test("several factories follow their own repositories, one triggered by another's webhook", async () => {
  const [hooks, pay] = [pushed(), pushed()];
  const repositories = [
    { factory: 'hooks', repository: hooks.bare, ...hourly },
    { factory: 'pay', repository: pay.bare, trigger: 'hooks/push', ...hourly },
  ];
  const daemon = await startFollowing({ settings: { repositories } });
  await serves(daemon, 1, 'hooks');
  await serves(daemon, 1, 'pay');
  pay.commit({ 'webhooks/more.yaml': webhook('S', 'enabled: true\n') });
  await send(await urlOf(daemon, 'push', 'hooks'), { ...credential, body: '{}' });
  await serves(daemon, 2, 'pay');
});

test('a dead remote delays neither another factory, nor the ingress, nor the end', async () => {
  const [upstream, silence] = [pushed(), await serveSilence()];
  const repositories = [
    { factory: 'dead', repository: `git://127.0.0.1:${silence.port}/hooks.git` },
    { repository: upstream.bare, interval: '1s' },
  ];
  const daemon = await startFollowing({ settings: { repositories } });
  const socket = await silence.connected;
  onTestFinished(() => void socket.destroy());
  await serves(daemon, 1);
  upstream.commit({ 'webhooks/pay.yaml': webhook('S', 'enabled: true\n') });
  await serves(daemon, 2);
  const url = await urlOf(daemon, 'push');
  expect(await send(url, { ...credential, body: '{}' })).toMatchObject({ status: 202 });
  expect(socket.closed).toBe(false);
  expect(await daemon.stop()).toBe(0);
  await eventually(() => socket.closed);
});

test('keeps to a suspension, and to the last good state over a restart without its remote', async () => {
  const upstream = pushed();
  const entry = { repository: upstream.bare, trigger: 'push', ...hourly };
  const first = await startFollowing({ settings: { repositories: [entry] } });
  const { workspace } = first;
  await serves(first, 1);
  await workspace.hookmill('reconcile', 'suspend');
  expect(await first.metrics()).toContain('hookmill_reconcile_suspended{factory="default"} 1');
  expect(await first.stop()).toBe(0);

  await workspace.hookmill('reconcile', 'resume');
  const gone = { ...entry, repository: '/nonexistent.git' };
  const second = await startDaemonForTest({ workspace, settings: { repositories: [gone] } });
  const failed = async () => (await factoryOf(second))?.reconcile?.lastFailure;
  expect(await eventually(failed)).toMatchObject({ reason: 'remote' });
  const url = await urlOf(second, 'push');
  expect(await send(url, { ...credential, body: '{}' })).toMatchObject({ status: 202 });
});

test('each row of the delivery log has the applied commit, rejected ones too, with its text escaped', async () => {
  const upstream = makeUpstream();
  const revision = upstream.commit({ 'webhooks/push.yaml': webhook() }, 'Add \x1b[31mpush');
  const daemon = await startFollowing({ args: ['--repository', upstream.bare, '--interval', '1h'] });
  await serves(daemon, 1);
  const url = await urlOf(daemon, 'push');
  const { deliveryId = '' } = await send(url, { ...credential, body: '{}' });
  await send(url, { ...credential, body: '{}' });
  await send(url, { headers: bearerOf('wrong'), body: '{}' });
  await daemon.stop();
  const { workspace } = daemon;
  const listed = await workspace.hookmill('deliveries', 'list', '-o', 'json');
  const commit = { revision, author: 'Ada', subject: 'Add \x1b[31mpush' };
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { outcome: 'Rejected (auth)', commit },
    { outcome: 'Duplicate', commit },
    { outcome: 'Accepted', commit },
  ]);
  const shown = await workspace.hookmill('deliveries', 'show', deliveryId);
  expect(shown.stdout).toContain(`${revision.slice(0, 7)} "Add \\x1b[31mpush" (Ada)`);
});
