import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createSortableId, sortableIdRandomBytes } from '../../../../schema/ids.ts';
import { bearerOf, startDaemon, type TestDaemon } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { send } from '../../../support/http.ts';
import { startAlteringServer } from '../../../support/loopback-server.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const rounds = inject('isLong') ? 50 : 1;

interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The program that somebody develops: it keeps what it gets, and answers as the test says. */
async function startReceiver(answer: (received: Received) => number = () => 204) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const { headers } = request;
    const row = { id: String(headers['hookmill-delivery-id']), headers, body };
    received.push(row);
    response.writeHead(answer(row)).end();
  });
  const listen = async (port = 0) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen();
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${port}/hook?from=test`, close, open: () => listen(port) };
}

/** A webhook and a token that may read; its daemon can be started again on the same ports. */
async function openScene() {
  const workspace = makeWorkspace();
  workspace.write('webhooks/deploys.yaml', 'secretName: TOKEN\nkeepHeaders: [X-Trace, X-Reader]\n');
  const secret = (await workspace.hookmill('secrets', 'generate', 'TOKEN')).stdout.trim();
  const applied = await workspace.hookmill('apply', '-o', 'json');
  const [{ uid }] = JSON.parse(applied.stdout).changes;
  const token =
    (await workspace.hookmill('tokens', 'create', 'laptop')).stdout.trim().split(/\s/).at(-1) ?? '';
  const settings = { managementPort: await findFreePort(), limits: { deliveriesPerMinute: 1_000_000 } };
  const args = ['--management-port', String(settings.managementPort)];
  const accepted: string[] = [];
  return {
    ...{ workspace, token, accepted, managementUrl: `http://127.0.0.1:${settings.managementPort}` },
    start: () => startDaemon({ workspace, settings, args }),
    post: async (daemon: TestDaemon, body: string | Buffer, headers: Record<string, string> = {}) => {
      const url = `${daemon.ingressUrl}/webhooks/w/${uid}`;
      const sent = { headers: { ...bearerOf(secret), ...headers }, body };
      // A daemon that is killed may have committed what it does not answer.
      const { deliveryId } = await send(url, sent).catch(() => ({ deliveryId: undefined }));
      if (deliveryId !== undefined) accepted.push(deliveryId);
    },
  };
}

/** Starts `hookmill listen`. Its cursor is in the workspace. */
function listen(workspace: Workspace, server: string, token: string, args: readonly string[]) {
  const env = { HOOKMILL_SERVER: server, HOOKMILL_TOKEN: token, XDG_STATE_HOME: workspace.path('state') };
  const child = workspace.start(['listen', '-o', 'json', ...args], { env, buffer: false });
  let errors = '';
  child.stderr?.on('data', chunk => {
    errors += chunk;
  });
  child.stdout?.resume();
  onTestFinished(() => void child.kill('SIGKILL'));
  const kill = async () => {
    child.kill('SIGINT');
    await child;
  };
  return { child, kill, stderr: () => errors };
}

function findCursorFile(workspace: Workspace): string | undefined {
  const directory = workspace.path('state/hookmill/listen');
  const files = existsSync(directory) ? readdirSync(directory) : [];
  const name = files.find(name => name.endsWith('.json'));
  return name && join(directory, name);
}

function readCursor(workspace: Workspace): string | undefined {
  const file = findCursorFile(workspace);
  return file && readFileSync(file, 'utf8');
}

/** Passes connections on, until the test cuts them. */
async function startLink(port: number) {
  const sockets = new Set<Socket>();
  const server = createTcpServer(socket => {
    const target = connect(port, '127.0.0.1');
    for (const end of [socket, target]) {
      sockets.add(end);
      end
        .on('error', () => undefined)
        .once('close', () => {
          sockets.delete(end);
          (end === socket ? target : socket).destroy();
        });
    }
    socket.pipe(target).pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    cut();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut };
}

test('forwards byte for byte, in order, and goes on where it was', async () => {
  const { workspace, token, accepted, managementUrl, start, post } = await openScene();
  const daemon = await start();
  onTestFinished(() => void daemon.stop('SIGKILL'));
  const receiver = await startReceiver(({ body }) => (body.includes('refuse') ? 500 : 204));
  const args = ['--webhook', 'deploys', '--forward', receiver.url];
  const ids = () => receiver.received.map(({ id }) => id);
  /** Ends it when it has kept where it is: otherwise it would send the last one again. */
  const kill = async (listening: ReturnType<typeof listen>) => {
    await eventually(() => readCursor(workspace)?.includes(accepted.at(-1) ?? ''));
    await listening.kill();
  };

  await post(daemon, '{"before":"it began"}');
  const first = listen(workspace, managementUrl, token, args);
  await eventually(() => first.stderr().includes('Forwarding to'));
  // Once the cursor is on disk, everything that arrives is forwarded.
  await eventually(() => readCursor(workspace));
  accepted.length = 0;
  const body = Buffer.concat([Buffer.from(' {"a":\t1e400,"a":"\u2028é"}\r\n'), Buffer.from([0x0a])]);
  await post(daemon, body, { 'X-Trace': 'Grüße', 'Content-Type': 'application/cloudevents+json' });
  await post(daemon, '{"please":"refuse"}');
  await eventually(() => receiver.received.length === 2);
  expect(receiver.received[0]?.body.equals(body)).toBe(true);
  const { headers } = receiver.received[0] ?? {};
  expect(headers).toMatchObject({
    'content-type': 'application/cloudevents+json',
    'x-trace': Buffer.from('Grüße').toString('latin1'),
    'hookmill-webhook': 'deploys',
  });
  expect(JSON.stringify(headers)).not.toContain(token);
  expect(headers).not.toHaveProperty('authorization');

  await kill(first);
  for (let n = 0; n < 3; n++) await post(daemon, `{"while away":${n}}`);
  const second = listen(workspace, managementUrl, token, args);
  await eventually(() => receiver.received.length === 5);
  expect(ids()).toEqual(accepted);

  await receiver.close();
  await post(daemon, '{"n":1}');
  await eventually(() => second.stderr().includes('ECONNREFUSED); trying again in'));
  await post(daemon, '{"n":2}');
  await receiver.open();
  await eventually(() => receiver.received.length === 7);
  expect(ids()).toEqual(accepted);
  await kill(second);

  const third = listen(workspace, managementUrl, token, [...args, '--replay-last', '2']);
  await eventually(() => receiver.received.length === 9);
  expect(ids().slice(7)).toEqual(accepted.slice(5));
  await third.kill();
});

describe('if retention has removed the delivery at the cursor', () => {
  const minuteMs = 60_000;
  /** Starts `listen` with a cursor at a delivery that is gone, whose ID has this time. Three others were recorded. */
  const listenAfter = async (atMs: number) => {
    const { workspace, token, accepted, managementUrl, start, post } = await openScene();
    const daemon = await start();
    onTestFinished(() => void daemon.stop('SIGKILL'));
    const receiver = await startReceiver();
    const args = ['--forward', receiver.url];
    const first = listen(workspace, managementUrl, token, args);
    await eventually(() => readCursor(workspace));
    await first.kill();
    for (let n = 0; n < 3; n++) await post(daemon, `{"n":${n}}`);
    const removed = createSortableId('dlv', atMs, randomBytes(sortableIdRandomBytes));
    writeFileSync(findCursorFile(workspace) ?? '', JSON.stringify({ after: removed }));
    const again = () => listen(workspace, managementUrl, token, args);
    const listening = again();
    await expect.poll(() => listening.stderr()).toContain(`Retention has removed ${removed}`);
    const ids = () => receiver.received.map(({ id }) => id);
    return {
      accepted,
      ids,
      removed,
      listening,
      again,
      workspace,
      post: (body: string) => post(daemon, body),
    };
  };

  test('leaves out none that may have been recorded after it, whatever the order of their times', async () => {
    const { accepted, ids, listening } = await listenAfter(Date.now() + 5 * minuteMs);
    await eventually(() => ids().length === 3);
    expect(ids()).toEqual(accepted);
    await listening.kill();
  });

  test('passes over what is long before it, and forwards all that arrives', async () => {
    const atMs = Date.now() + 60 * minuteMs;
    const { accepted, ids, listening, again, workspace, removed, post } = await listenAfter(atMs);
    await eventually(() => !readCursor(workspace)?.includes(removed));
    await post('{"later":1}');
    await eventually(() => ids().length === 1);
    await eventually(() => readCursor(workspace)?.includes(accepted.at(-1) ?? ''));
    await listening.kill();
    const second = again();
    await post('{"later":2}');
    await eventually(() => ids().length === 2);
    expect(ids()).toEqual(accepted.slice(3));
    await second.kill();
  });
});

test('forwards what a hostile server answers without headers that would change the request', async () => {
  const { workspace, token, accepted, managementUrl, start, post } = await openScene();
  const daemon = await start();
  onTestFinished(() => void daemon.stop('SIGKILL'));
  const receiver = await startReceiver();
  for (const n of [1, 2]) await post(daemon, `{"n":${n}}`);
  const lies = {
    ...{
      Host: 'elsewhere.example',
      'Transfer-Encoding': 'chunked',
      'Content-LENGTH': '1',
      Connection: 'keep-alive',
    },
    ...{ TE: 'trailers', Upgrade: 'websocket', Expect: '100-continue', 'Hookmill-Delivery-ID': 'another' },
    ...{ 'x-line': 'a\r\nx-other: b', 'x-nul': '\0', 'not a\u001bname': 'a', '': 'a', 'X-Kept': 'Grüße' },
  };
  const server = await startAlteringServer(managementUrl, (answer, path) =>
    path.includes('/deliveries?')
      ? { ...answer, deliveries: answer.deliveries.map((row: object) => ({ ...row, headers: lies })) }
      : answer,
  );
  const listening = listen(workspace, server, token, ['--forward', receiver.url, '--replay-last', '2']);
  await eventually(() => receiver.received.length === 2);
  await listening.kill();
  expect(receiver.received.map(({ id }) => id)).toEqual(accepted);
  expect(receiver.received.map(({ body }) => `${body}`)).toEqual(['{"n":1}', '{"n":2}']);
  const sent = { connection: 'close', 'content-length': '7', host: new URL(receiver.url).host };
  const named = { 'hookmill-delivery-id': accepted[0], 'hookmill-webhook': 'deploys' };
  const kept = { 'x-kept': Buffer.from('Grüße').toString('latin1') };
  expect(receiver.received[0]?.headers).toEqual({ ...sent, ...named, ...kept });
  const [id] = accepted;
  for (const name of ['x-line', 'x-nul', 'not a\\x1bname']) {
    expect(listening.stderr()).toContain(
      `${id} is forwarded without the header ${name}, which HTTP does not allow`,
    );
  }
});

test('refuses a URL that is none, and a token that may not read', async () => {
  const { workspace, managementUrl, start } = await openScene();
  const daemon = await start();
  onTestFinished(() => void daemon.stop('SIGKILL'));
  const wrong = await workspace.hookmill('listen', '--forward', 'localhost:3000');
  expect(wrong).toMatchObject({ exitCode: 2, stdout: '' });
  expect(wrong.stderr).toContain('--forward must be a URL that begins with http:// or https://');
  const env = { HOOKMILL_SERVER: managementUrl, HOOKMILL_TOKEN: 'hmk_none' };
  const unknown = await workspace.hookmill('listen', '--forward', 'http://127.0.0.1:9', { env });
  expect(unknown.exitCode).toBe(1);
});

test('forwards each delivery once and in order through cut connections, killed daemons and sleep', async () => {
  const { workspace, token, accepted, managementUrl, start, post } = await openScene();
  let daemon = await start();
  onTestFinished(() => void daemon.stop('SIGKILL'));
  const link = await startLink(Number(new URL(managementUrl).port));
  const receiver = await startReceiver();
  const listening = listen(workspace, link.url, token, ['--forward', receiver.url, '--replay-last', '1']);
  await eventually(() => readCursor(workspace));
  const faults = [
    async () => link.cut(),
    async () => {
      await daemon.stop('SIGKILL');
      daemon = await start();
    },
    async () => {
      listening.child.kill('SIGSTOP');
      for (let n = 0; n < 20; n++) await post(daemon, `{"while asleep":${accepted.length}}`);
      link.cut();
      listening.child.kill('SIGCONT');
    },
  ];
  for (let round = 0; round < rounds; round++) {
    const before = Promise.all(
      Array.from({ length: 5 }, (_, n) => post(daemon, `{"round":${round},"n":${n}}`)),
    );
    if (round % 2 === 0) await before;
    await faults[round % faults.length]?.();
    await before;
    await post(daemon, `{"after round":${round}}`);
    await eventually(() => receiver.received.some(({ id }) => id === accepted.at(-1)));
  }
  const { stdout } = await workspace.hookmill('deliveries', 'list', '--limit', '10000', '-o', 'json');
  const committed = (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id).reverse();
  await eventually(() => receiver.received.length >= committed.length);
  expect(receiver.received.map(({ id }) => id)).toEqual(committed);
  expect(accepted.filter(id => !committed.includes(id))).toEqual([]);
});
