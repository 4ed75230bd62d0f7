import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearerOf, startDaemonForTest, type TestWebhook } from '../../../support/daemon.ts';
import { connectTo, head } from '../../../support/http.ts';
import {
  openWebhookDaemon,
  startWebhookDaemon,
  type WebhookDaemon,
} from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
});
afterAll(() => daemon.stop());

/** Who is still sending may lose the answer. */
const cut = /^(HTTP\/1\.1 408 |$)/;

describe('cuts a connection', () => {
  let impatient: WebhookDaemon;
  beforeAll(async () => {
    impatient = await openWebhookDaemon({ settings: { limits: { requestSeconds: 3 } } });
  });
  afterAll(() => impatient.stop());

  test.concurrent('that sends nothing', async () => {
    const connection = await connectTo(impatient.ingressUrl);
    expect(await connection.closed).toMatch(cut);
  });

  test.concurrent('that drips its headers', async () => {
    const connection = await connectTo(impatient.ingressUrl);
    connection.write('POST /webhooks/w/x HTTP/1.1\r\nHost: x\r\n');
    const drip = setInterval(() => connection.write('X-Slow: 1\r\n'), 50);
    expect(await connection.closed).toMatch(cut);
    clearInterval(drip);
  });

  test.concurrent('that drips its body, and records nothing of it', async () => {
    const webhook = await impatient.webhook();
    const connection = await connectTo(webhook.url);
    connection.write(head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, 'Content-Length: 1000']));
    const drip = setInterval(() => connection.write(' '), 50);
    expect(await connection.closed).toMatch(cut);
    clearInterval(drip);
    expect(await webhook.rows()).toEqual([]);
  });

  test.concurrent('that never sends the body it got leave for', async () => {
    const webhook = await impatient.webhook();
    const connection = await connectTo(webhook.url);
    const lines = [`Authorization: Bearer ${webhook.secret}`, 'Content-Length: 2', 'Expect: 100-continue'];
    connection.write(head(webhook.url, lines));
    expect(await connection.closed).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 408 /);
  });
});

test('refuses headers over 16 KiB with 431', async () => {
  const webhook = await daemon.webhook();
  expect(await webhook.post('1', { headers: { 'x-large': 'x'.repeat(17_000) } })).toMatchObject({
    status: 431,
  });
});

test.each([
  ['no HTTP at all', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n'],
  ['an unknown method', 'BREW /webhooks/w/x HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['no Host', 'POST /webhooks/w/x HTTP/1.1\r\nContent-Length: 0\r\n\r\n'],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n12'],
  [
    'a length and chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1a\r\n\r\n1'],
  ['a length over 2^64', `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n1`],
  ['a NUL in a header', 'POST / HTTP/1.1\r\nHost: x\r\nX-Nul: \u0000\r\n\r\n'],
  ['a folded header', 'POST / HTTP/1.1\r\nHost: x\r\nX-Folded: a\r\n b\r\n\r\n'],
])('answers %s with 400 and serves on', async (_, bytes) => {
  const connection = await connectTo(daemon.ingressUrl);
  connection.write(Buffer.from(bytes, 'latin1'));
  expect(await connection.closed).toMatch(/^HTTP\/1\.1 400 /);
  expect(await daemon.readyz()).toMatchObject({ status: 'ready' });
});

const malformed = [
  ['a target that is no URL', ['POST http://[ HTTP/1.1', 'Host: x']],
  ['a target of another scheme that is no URL', ['POST other://[ HTTP/1.1', 'Host: x']],
  ['a Host that is no host', ['POST /webhooks/w/UID HTTP/1.1', 'Host: [']],
  ['a Host whose port is no port', ['GET /api/v1/factories HTTP/1.1', 'Host: 127.0.0.1:99999']],
  ['a Host whose address is no address', ['GET /api/v1/factories HTTP/1.1', 'Host: 999.1.1.1']],
  ['a Host with a path', ['POST /webhooks/w/UID HTTP/1.1', 'Host: x/y']],
  ['two Hosts', ['POST /webhooks/w/UID HTTP/1.1', 'Host: x', 'host: y']],
] as const;

test.each(malformed)('answers %s with 400 on both ports, and logs no error', async (_, lines) => {
  const webhook = await daemon.webhook();
  for (const url of [webhook.url, daemon.managementUrl]) {
    const connection = await connectTo(url);
    const text = [...lines, 'Content-Length: 1', '', '1'].join('\r\n');
    connection.write(text.replace('UID', webhook.uid).replace('TOKEN', webhook.secret));
    expect(await connection.closed).toMatch(/^HTTP\/1\.1 400 .*"status":400/s);
  }
  expect(await webhook.rows()).toEqual([]);
  expect(daemon.logged()).not.toContain('"level":50');
});

test.each([
  ['the right one first', ['Authorization: Bearer TOKEN', 'authorization: Bearer b']],
  ['the right one last', ['Authorization: Bearer b', 'authorization: Bearer TOKEN']],
  ['the right one twice', ['Authorization: Bearer TOKEN', 'authorization: Bearer TOKEN']],
  ['an empty one first', ['Authorization:', 'authorization: Bearer TOKEN']],
])('answers two Authorization headers with 401 on both ports: %s', async (_, lines) => {
  const webhook = await daemon.webhook();
  const { factory } = webhook;
  const created = await daemon.workspace.hookmill('tokens', 'create', factory, '--factory', factory);
  const token = created.stdout.trim().split(/\s/).at(-1) ?? '';
  const asked = [
    [webhook.url, 'POST', webhook.secret],
    [`${daemon.managementUrl}/api/v1/factories/${factory}/webhooks`, 'GET', token],
  ] as const;
  for (const [url, method, token] of asked) {
    const connection = await connectTo(url);
    const { pathname, host } = new URL(url);
    const text = [`${method} ${pathname} HTTP/1.1`, `Host: ${host}`, ...lines, 'Connection: close', '', ''];
    connection.write(text.join('\r\n').replaceAll('TOKEN', token));
    expect(await connection.closed, url).toMatch(/^HTTP\/1\.1 401 /);
  }
  await expect.poll(() => webhook.rows()).toMatchObject([{ outcome: 'Rejected (auth)' }]);
});

test.each(['//a@[#', '/api/v1/factories?%E0%A4%A', '/%E0%A4%A', '/api/v1/factories/%E0%A4%A/webhooks', '*'])(
  'answers the odd target %s with no 5xx on both ports',
  async target => {
    for (const url of [daemon.ingressUrl, daemon.managementUrl]) {
      const connection = await connectTo(url);
      const { host } = new URL(url);
      connection.write(`OPTIONS ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(await connection.closed).toMatch(/^HTTP\/1\.1 [2-4]/);
    }
    expect(daemon.logged()).not.toContain('"level":50');
  },
);

test('answers 401 where a scheme signs the URL, whatever the Host', async () => {
  const webhook = await daemon.webhook({
    authMode: 'signature',
    signatureScheme: 'square',
    secret: 'a-signing-key',
  });
  const headers = { 'x-square-hmacsha256-signature': 'AAAA' };
  for (const host of ['x', 'x_y', '[::1]:80', 'münchen'].map(name => Buffer.from(name).toString('latin1'))) {
    expect(await webhook.post('{}', { headers: { ...headers, host } })).toMatchObject({ status: 401 });
  }
});

test('logs a length that a stranger announces, up to what every store can hold', async () => {
  const webhook = await daemon.webhook();
  const connection = await connectTo(webhook.url);
  connection.write(head(webhook.url, ['Authorization: Bearer wrong', `Content-Length: ${2 ** 40}`]));
  expect(await connection.closed).toMatch(/^HTTP\/1\.1 401 /);
  expect(await webhook.rowsOnce(1)).toMatchObject([{ outcome: 'Rejected (auth)', size: 2 ** 31 - 1 }]);
});

test('refuses a chunk whose length is no number', async () => {
  const webhook = await daemon.webhook();
  const connection = await connectTo(webhook.url);
  const lines = [`Authorization: Bearer ${webhook.secret}`, 'Transfer-Encoding: chunked'];
  connection.write(`${head(webhook.url, lines)}2\r\n{}\r\nzz\r\n`);
  expect(await connection.closed).toMatch(/^HTTP\/1\.1 400 /);
  expect(await webhook.rows()).toEqual([]);
});

test('answers HTTP/1.0, and an offer to speak another protocol as if it were not made', async () => {
  const webhook = await daemon.webhook();
  const post = async (version: string, ...lines: string[]) => {
    const connection = await connectTo(webhook.url);
    const { authorization } = bearerOf(webhook.secret);
    const all = [`Authorization: ${authorization}`, 'Content-Length: 2', ...lines];
    connection.write(`${head(webhook.url, all).replace('HTTP/1.1', version)}{}`);
    return connection.receives(/HTTP\/1\.1 \d+ /);
  };
  expect(await post('HTTP/1.0')).toContain('HTTP/1.1 202 ');
  expect(await post('HTTP/1.1', 'Connection: Upgrade', 'Upgrade: h2c')).toContain('HTTP/1.1 202 ');
});

describe('connections', () => {
  const startNarrow = (connections: number, settings = {}) =>
    startWebhookDaemon({ settings: { limits: { connections }, ...settings } });
  const toToken = (webhook: TestWebhook, length: number) =>
    head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, `Content-Length: ${length}`]);

  test('of one address have a share: the one that has been idle longest gives way to a new one', async () => {
    const webhook = await (await startNarrow(16)).webhook();
    const used = await connectTo(webhook.url);
    used.write(`${toToken(webhook, 1)}1`);
    await used.receives(/HTTP\/1\.1 202 /);
    const unused = await connectTo(webhook.url);
    const third = await connectTo(webhook.url);
    await used.closed;
    third.write(`${toToken(webhook, 1)}1`);
    await third.receives(/HTTP\/1\.1 202 /);
    await connectTo(webhook.url);
    await unused.closed;
    third.write(`${toToken(webhook, 1)}2`);
    await third.receives(/202 .*202 /s);
  });

  test('of one address that are all busy keep out new ones of that address, and of no other', async () => {
    const webhook = await (await startNarrow(16)).webhook();
    const busy = [await connectTo(webhook.url), await connectTo(webhook.url)];
    for (const { write, receives } of busy) {
      write(toToken(webhook, 2).replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n'));
      await receives(/100 Continue/);
    }
    await expect(webhook.post('1')).rejects.toThrow();
    expect(await webhook.post('1', { localAddress: '127.0.0.2' })).toMatchObject({ status: 202 });
    for (const { write, receives } of busy) {
      write('{}');
      await receives(/202 /);
    }
    expect(await webhook.post('1')).toMatchObject({ status: 202 });
  });

  test.runIf(process.platform === 'linux')(
    'are no more than the process has descriptors for, so that one address shuts nobody out',
    async () => {
      const through = ['sh', '-c', 'ulimit -n 400; exec "$@"', 'sh'];
      const settings = { limits: { requestSeconds: 3_600 } };
      const daemon = await startDaemonForTest({ through, settings });
      expect(daemon.stderr()).toMatch(/"openFiles":400,"connections":150,"wanted":10000/);
      const webhook = await daemon.webhook();
      const stuck = await Promise.all(Array.from({ length: 450 }, () => connectTo(webhook.url)));
      for (const { write } of stuck) write(toToken(webhook, 2));
      expect(await webhook.post('1', { localAddress: '127.0.0.2' })).toMatchObject({ status: 202 });
      const { stdout } = await daemon.workspace.hookmill('doctor');
      expect(stdout).toContain('allows only 150 connections to the ingress, fewer than limits.connections');
    },
  );

  test('that are idle give way when all are taken, however many addresses they come from', async () => {
    const webhook = await (await startNarrow(4)).webhook();
    const idle = await Promise.all([1, 2, 3, 4].map(n => connectTo(webhook.url, `127.0.0.${n}`)));
    expect(await webhook.post('1', { localAddress: '127.0.0.5' })).toMatchObject({ status: 202 });
    await Promise.race(idle.map(({ closed }) => closed));
  });

  test('of a trusted proxy are not limited to a share', async () => {
    const webhook = await (await startNarrow(16, { trustProxies: ['loopback'] })).webhook();
    const held = await Promise.all(Array.from({ length: 6 }, () => connectTo(webhook.url)));
    for (const { write, receives } of held) {
      write(`${toToken(webhook, 1)}1`);
      await receives(/202 /);
    }
  });
});

test('answers all pipelined requests of a sender that reads the answers late', async () => {
  const connection = await connectTo(daemon.ingressUrl);
  const count = 5_000;
  const toNobody = (...lines: string[]) =>
    `${head(`${daemon.ingressUrl}/webhooks`, ['Content-Length: 2', ...lines])}{}`;
  connection.socket.pause();
  connection.write(toNobody().repeat(count - 1) + toNobody('Connection: close'));
  const webhook = await daemon.webhook();
  expect(await webhook.post('{}')).toMatchObject({ status: 202 });
  connection.socket.resume();
  const answers = (await connection.closed).match(/HTTP\/1\.1 \d+ /g) ?? [];
  expect(answers).toHaveLength(count);
  expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 404 ']));
});
