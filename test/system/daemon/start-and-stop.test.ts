import { existsSync, mkdirSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../../daemon/daemon.ts';
import { settingsShape } from '../../../daemon/settings.ts';
import type { Store } from '../../../store/ports/store.ts';
import { startDaemonForTest } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { newHome } from '../../support/factory.ts';
import { findFreePort } from '../../support/free-port.ts';
import { areHomesInPostgres } from '../../support/home-place.ts';
import { connectTo, head, send } from '../../support/http.ts';
import { storeIn } from '../../support/stored.ts';
import { startWebhookDaemon } from '../../support/webhook-daemon.ts';
import { makeWorkspace } from '../../support/workspace.ts';

test('is not ready before the ingress listens', async () => {
  const store = storeIn(newHome());
  const mayGoOn = Promise.withResolvers<void>();
  const slow: Store = {
    ...store,
    openDeliveryLog: async options => {
      const log = await store.openDeliveryLog(options);
      const requeueRunsOfOthers = async (id: string) => {
        await mayGoOn.promise;
        return log.requeueRunsOfOthers(id);
      };
      return { ...log, requeueRunsOfOthers };
    },
  };
  const managementPort = await findFreePort();
  const starting = startDaemon({
    store: slow,
    settings: settingsShape.parse({ port: 0, managementPort }),
    version: '0.0.0-test',
    environment: {},
    log: pino({ level: 'silent' }),
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
    stopping: new AbortController().signal,
    onFatal: error => {
      throw error;
    },
  });
  const look = () => fetch(`http://127.0.0.1:${managementPort}/readyz`).catch(() => undefined);
  const early = await eventually(look);
  expect({ status: early.status, body: await early.json() }).toMatchObject({
    status: 503,
    body: { status: 'not ready', reason: 'the daemon is starting' },
  });
  mayGoOn.resolve();
  const daemon = await starting;
  onTestFinished(async () => {
    await daemon.stop();
    await store.close();
  });
  expect((await look())?.status).toBe(200);
});

// These files are in a home only if it keeps everything itself.
test.skipIf(areHomesInPostgres()).each(['deliveries.db.lock-holder', 'applied', 'daemon.json'])(
  'a signal during the start, once %s is there, stops the daemon cleanly',
  async file => {
    const workspace = makeWorkspace();
    const child = workspace.start(['serve', '--port', '0', '--management-port', '0']);
    await eventually(() => existsSync(join(workspace.home, file)));
    child.kill('SIGTERM');
    const { exitCode, signal, stderr } = await child;
    expect({ exitCode, signal }).toEqual({ exitCode: 0, signal: undefined });
    expect(stderr).toContain('"msg":"stopped"');
  },
);

test('serves with a warning if its address cannot be recorded', async () => {
  const workspace = makeWorkspace();
  mkdirSync(join(workspace.home, 'daemon.json'), { recursive: true });
  const daemon = await startWebhookDaemon({ workspace });
  expect(await daemon.readyz()).toMatchObject({ status: 'ready' });
  expect(daemon.logged()).toMatch(/"level":40.*cannot record where this daemon listens/);
});

test('still accepts deliveries for the stop delay, while it is not ready', async () => {
  const daemon = await startDaemonForTest({ settings: { stopDelaySeconds: 60 } });
  const webhook = await daemon.webhook();
  daemon.process.kill('SIGTERM');
  await eventually(async () => (await daemon.readyz()).reason === 'the daemon is stopping');
  const { status, headers } = await webhook.post('{}');
  expect({ status, connection: headers.connection }).toEqual({ status: 202, connection: 'close' });
});

test('answers on both ports what had arrived when it was told to stop, though it had not accepted it yet', async () => {
  const daemon = await startDaemonForTest({ settings: { limits: { deliveriesPerMinute: 1_000 } } });
  const webhook = await daemon.webhook();
  const healthUrl = `${daemon.managementUrl}/healthz`;
  const authorization = `Authorization: Bearer ${webhook.secret}`;
  const requests = Array.from({ length: 100 }, (_, number): [url: string, request: string] =>
    number % 2 === 0
      ? [webhook.url, `${head(webhook.url, [authorization, 'Content-Length: 4'])}${1_000 + number}`]
      : [healthUrl, head(healthUrl, []).replace('POST', 'GET')],
  );
  daemon.process.kill('SIGSTOP');
  const connections = await Promise.all(requests.map(([url]) => connectTo(url)));
  for (const [index, { socket }] of connections.entries())
    await new Promise(resolve => socket.write(requests[index]?.[1] ?? '', resolve));
  daemon.process.kill('SIGTERM');
  daemon.process.kill('SIGCONT');
  const answers = await Promise.all(connections.map(({ closed }) => closed));
  const counts = Object.groupBy(answers, answer => answer.split('\r\n', 1)[0] ?? '');
  expect(Object.fromEntries(Object.entries(counts).map(([line, found]) => [line, found?.length]))).toEqual({
    'HTTP/1.1 202 Accepted': 50,
    'HTTP/1.1 200 OK': 50,
  });
  expect((await daemon.process).exitCode).toBe(0);
});

test('stops though nobody reads its log', async () => {
  const daemon = await startDaemonForTest({ settings: { logLevel: 'debug' } });
  daemon.process.stderr?.pause();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  // Far more lines than the pipe holds.
  const requests = Array.from({ length: 1_500 }, () => send(daemon.ingressUrl, { agent }));
  expect(new Set((await Promise.all(requests)).map(({ status }) => status))).toEqual(new Set([404]));
  agent.destroy();
  daemon.process.kill('SIGTERM');
  // Not `daemon.stop`, which waits until its output has been read as well.
  await eventually(() => daemon.process.nodeChildProcess.exitCode !== null);
  expect(daemon.process.nodeChildProcess.exitCode).toBe(0);
});
