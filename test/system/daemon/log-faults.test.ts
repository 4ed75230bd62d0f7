import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../operations/access/tokens.ts';
import { homeAt } from '../../../store/home/home.ts';
import { SqliteDatabase } from '../../../store/home/sqlite.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { startDaemonForTest } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/http.ts';
import { fillDisk, mountSmallDisk } from '../../support/small-disk.ts';
import { factoryIn, readStore, storeIn } from '../../support/stored.ts';
import { startWebhookDaemon } from '../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('answers 503 while the disk is full, never 202, and records again when there is space', async context => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.home);
  if (!mountSmallDisk(workspace.home, '4m')) return context.skip('needs the right to mount a tmpfs');
  const daemon = await startWebhookDaemon({ workspace });
  const webhook = await daemon.webhook();
  const payload = (n: number) => `"${n}${'x'.repeat(100_000)}"`;
  const answers = [await webhook.post(payload(0))];
  fillDisk(join(workspace.home, 'ballast'));
  for (let n = 1; n <= 10; n++) answers.push(await webhook.post(payload(n)));
  expect(answers.at(0)).toMatchObject({ status: 202 });
  expect(answers.at(-1)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1', 'content-type': 'application/problem+json' },
  });
  expect(daemon.logged()).toContain('database or disk is full');
  // The daemon tries a small write, and keeps its counts of what it refused.
  const readFailed = async () => Number(/_failed_commits (\d+)$/m.exec(await daemon.metrics())?.[1]);
  const failed = await readFailed();
  await expect.poll(readFailed).toBeGreaterThan(failed);

  rmSync(join(workspace.home, 'ballast'));
  answers.push(await webhook.post(payload(11)), await webhook.post(payload(10)));
  expect(answers.slice(-2)).toMatchObject([{ status: 202 }, { status: 202 }]);
  const recorded = answers.flatMap(({ deliveryId }) => deliveryId ?? []);
  expect((await webhook.rows()).map(({ id }) => id)).toEqual(recorded.reverse());
  const { factory } = webhook;
  const count = answers.filter(({ status }) => status === 503).length;
  const readCounts = () =>
    readStore(homeAt(workspace.home), ({ deliveries }) => deliveries.sumUnlogged({ factory, sinceMs: 0 }));
  await expect.poll(readCounts).toMatchObject([{ reason: 'not recorded', count }]);
});

test('is not ready and sends an alert while the disk is full, even if nothing arrives, and is ready again when there is space', async context => {
  const workspace = makeWorkspace();
  mkdirSync(workspace.home);
  if (!mountSmallDisk(workspace.home, '4m')) return context.skip('needs the right to mount a tmpfs');
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  await readStore(homeAt(workspace.home), ({ teamSecrets }) => teamSecrets.set('ALERTS', secret));
  const receiver = await startAlertReceiver(secret);
  const settings = { alerts: [{ url: receiver.url, secret: 'ALERTS' }] };
  const daemon = await startWebhookDaemon({ workspace, settings });
  const ballast = join(workspace.home, 'ballast');
  fillDisk(ballast);
  await expect.poll(daemon.readyz).toMatchObject({
    status: 'not ready',
    reason: expect.stringMatching(/deliveries\.db cannot be written \(.*full\); free disk space/),
  });
  await eventually(() => receiver.alerts.length === 1);
  rmSync(ballast);
  await expect.poll(daemon.readyz).toMatchObject({ status: 'ready' });
  await eventually(() => receiver.alerts.length === 2);
  const [opened, resolved] = receiver.alerts;
  expect(opened).toMatchObject({
    type: 'log.unwritable',
    data: { status: 'open', factory: null, reason: expect.stringContaining('full') },
  });
  expect(resolved).toMatchObject({
    type: 'log.unwritable',
    data: { status: 'resolved', id: opened?.data.id },
  });
});

test('answers 503, says why, and then stops cleanly while another process has locked the log', async () => {
  const daemon = await startDaemonForTest();
  const store = storeIn(homeAt(daemon.workspace.home));
  const listAs = async (factory: string | null) => {
    const given = { name: `of-${factory}`, factory, permission: 'read' as const };
    const authorization = `Bearer ${await createToken({ store, randomBytes }, given)}`;
    const url = `${daemon.managementUrl}/api/v1/alerts`;
    return async () => JSON.parse((await send(url, { method: 'GET', headers: { authorization } })).body);
  };
  const [operator, reader] = [await listAs(null), await listAs('default')];
  expect(await operator()).toEqual({ alerts: [], logTrouble: null });
  const webhook = await daemon.webhook();
  const other = new SqliteDatabase(join(daemon.workspace.home, 'deliveries.db'));
  onTestFinished(() => {
    other.close();
  });
  other.exec('BEGIN IMMEDIATE');
  expect(await webhook.post('1')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(await daemon.readyz()).toMatchObject({ reason: expect.stringMatching(/database is locked/) });
  expect(await operator()).toMatchObject({ logTrouble: expect.stringMatching(/database is locked/) });
  expect(await reader()).toEqual({ alerts: [], logTrouble: 'the delivery log cannot be written' });
  const underWay = webhook.post('2');
  await expect.poll(daemon.metrics).toMatch(/^hookmill_delivery_log_waiting 1$/m);
  // On a machine that is too slow for the time to stop, the process ends early and cuts the connection.
  expect([0, undefined]).toContain(await daemon.stop());
  expect(await underWay.catch(() => ({ status: 503 }))).toMatchObject({ status: 503 });
});

test('does not start while another process has locked the log, and says so', async () => {
  const workspace = makeWorkspace();
  await factoryIn(homeAt(workspace.home)).useDeliveryLog(async () => undefined);
  const other = new SqliteDatabase(join(workspace.home, 'deliveries.db'));
  onTestFinished(() => {
    other.close();
  });
  other.exec('BEGIN IMMEDIATE');
  const { exitCode, stdout, stderr } = await workspace.hookmill(
    ...['serve', '--port', '0', '--management-port', '0'],
  );
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toMatch(
    /^hookmill: \S+deliveries\.db cannot be written \(database is locked\); another process/m,
  );
});

test('answers 503 once its log was removed, says so, and ends with an error', async () => {
  const daemon = await startDaemonForTest();
  const webhook = await daemon.webhook();
  expect(await webhook.post('1')).toMatchObject({ status: 202 });
  rmSync(join(daemon.workspace.home, 'deliveries.db'));
  expect(await webhook.post('2')).toMatchObject({ status: 503 });
  const { exitCode } = await daemon.process;
  expect(exitCode).toBe(3);
  expect(daemon.stderr()).toMatch(/"level":60,.*deliveries\.db was removed or replaced/);
  expect(daemon.stderr()).toMatch(
    /^hookmill: the daemon cannot continue: \S+deliveries\.db was removed or replaced .*; restore it if you can, then start the daemon$/m,
  );
});
