import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { connectTo, head, send } from '../../../support/http.ts';
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

const limit = 262_144;
const signed = { authMode: 'signature', signatureScheme: 'github' };

describe('a body over the limit', () => {
  test.each([
    ['with its length', `Content-Length: ${8 * limit}`, 'x'.repeat(2 * limit)],
    ['chunked', 'Transfer-Encoding: chunked', `${(8 * limit).toString(16)}\r\n${'x'.repeat(2 * limit)}`],
  ])('is answered while its sender goes on, and the connection closed: %s', async (_, framing, body) => {
    for (const given of [{}, signed]) {
      const webhook = await daemon.webhook(given);
      const connection = await connectTo(webhook.url);
      connection.write(head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, framing]));
      connection.write(body);
      const received = await connection.closed;
      expect(received).toMatch(/^HTTP\/1\.1 413 /);
      expect(received).toMatch(/\r\nConnection: close\r\n/);
      expect(received).toContain('"status":413');
    }
  });

  test('is refused before a byte of it is sent', async () => {
    const webhook = await daemon.webhook();
    const connection = await connectTo(webhook.url);
    const lines = [`Authorization: Bearer ${webhook.secret}`, `Content-Length: ${limit + 1}`];
    connection.write(head(webhook.url, lines));
    expect(await connection.closed).toMatch(/^HTTP\/1\.1 413 .*"status":413/s);
  });

  test.each([false, true])('gives fetch its answer (streamed: %s)', async streamed => {
    const webhook = await daemon.webhook();
    const piece = Buffer.alloc(4 * limit, 'x');
    const init = { method: 'POST', headers: bearerOf(webhook.secret), duplex: 'half' } as const;
    const body = streamed ? ReadableStream.from([piece, piece, piece]) : piece;
    const answer = await fetch(webhook.url, { ...init, body });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ status: 413 });
  });

  test('gives node:http its answer while it writes on and on', async () => {
    const webhook = await daemon.webhook();
    const outgoing = request(webhook.url, { method: 'POST', headers: bearerOf(webhook.secret) });
    outgoing.on('error', () => undefined);
    const writeOn = () => {
      if (!outgoing.destroyed) outgoing.write(Buffer.alloc(limit), () => setImmediate(writeOn));
    };
    writeOn();
    const [answer] = await once(outgoing, 'response');
    expect(answer.statusCode).toBe(413);
    expect(Buffer.concat(await answer.toArray()).toString()).toContain('"status":413');
    outgoing.destroy();
  });
});

test.each([
  ['an endless body', 'Transfer-Encoding: chunked'],
  ['a long body', `Content-Length: ${100 * limit}`],
])('does not read %s that nobody has vouched for', async (_, framing) => {
  const webhook = await daemon.webhook();
  const connection = await connectTo(webhook.url);
  connection.write(head(webhook.url, ['Authorization: Bearer wrong', framing]));
  expect(await connection.closed).toMatch(/^HTTP\/1\.1 401 .*\r\nConnection: close\r\n.*"status":401/s);
});

test('answers a sender of too much whose failed attempts are spent', async () => {
  const small = await startWebhookDaemon({ settings: { limits: { failedAuthPerMinute: 1 } } });
  const webhook = await small.webhook(signed);
  const statuses = [];
  for (const _ of ['before', 'after']) {
    const connection = await connectTo(webhook.url);
    connection.write(head(webhook.url, ['Transfer-Encoding: chunked']));
    connection.write(`${(2 * limit).toString(16)}\r\n${'x'.repeat(2 * limit)}`);
    const received = await connection.closed;
    expect(received).toContain('\r\nConnection: close\r\n');
    statuses.push(received.slice(9, 12));
    await webhook.post('1');
  }
  expect(statuses).toEqual(['413', '429']);
});

test('keeps the connection of a sender whose refused body is short', async () => {
  const webhook = await daemon.webhook();
  const connection = await connectTo(webhook.url);
  connection.write(head(webhook.url, ['Authorization: Bearer wrong', 'Content-Length: 2']));
  await connection.receives(/401/);
  connection.write('{}');
  connection.write(head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, 'Content-Length: 2']));
  connection.write('{}');
  await connection.receives(/HTTP\/1\.1 202 /);
});

describe('Expect: 100-continue', () => {
  const expecting = (secret: string, length: number) => [
    `Authorization: Bearer ${secret}`,
    `Content-Length: ${length}`,
    'Expect: 100-continue',
  ];

  test('gives leave to send once the token is right', async () => {
    const webhook = await daemon.webhook();
    const connection = await connectTo(webhook.url);
    connection.write(head(webhook.url, expecting(webhook.secret, 2)));
    await connection.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.write('{}');
    await connection.receives(/HTTP\/1\.1 202 /);
  });

  test.each([
    [401, 'wrong', 2],
    [413, undefined, limit + 1],
  ])('answers %i without it, and closes the connection', async (status, secret, length) => {
    const webhook = await daemon.webhook();
    const connection = await connectTo(webhook.url);
    connection.write(head(webhook.url, expecting(secret ?? webhook.secret, length)));
    const received = await connection.closed;
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received).not.toContain('100 Continue');
  });

  test('refuses any other expectation with 417', async () => {
    const webhook = await daemon.webhook();
    const headers = { ...bearerOf(webhook.secret), expect: 'the-unexpected' };
    expect(await webhook.post('{}', { headers })).toMatchObject({ status: 417 });
  });
});

describe('the client address', () => {
  /** Four failed attempts, of which an address has two. */
  const statusesOf = async (trustProxies: string[], forwardedFor: (n: number) => string) => {
    const settings = { trustProxies, limits: { failedAuthPerMinute: 2 } };
    const behind = await startWebhookDaemon({ settings });
    const webhook = await behind.webhook();
    const statuses = [];
    for (const n of [1, 2, 3, 4]) {
      const headers = { ...bearerOf('wrong'), 'x-forwarded-for': forwardedFor(n) };
      statuses.push((await webhook.post('1', { headers })).status);
    }
    return statuses;
  };
  const [oneAddress, severalAddresses] = [[401, 401, 429, 429], Array(4).fill(401)];

  test('is that of the connection, whatever X-Forwarded-For says', async () => {
    expect(await statusesOf([], n => `192.0.2.${n}`)).toEqual(oneAddress);
    expect(await statusesOf(['10.0.0.1'], n => `192.0.2.${n}`)).toEqual(oneAddress);
  });

  test('is the address that a trusted proxy has seen, not the one that its client claims', async () => {
    expect(await statusesOf(['loopback'], n => `192.0.2.${n}`)).toEqual(severalAddresses);
    expect(await statusesOf(['127.0.0.0/8'], n => `198.51.100.${n}, 192.0.2.1`)).toEqual(oneAddress);
  });
});

test('gives a scheme that signs the URL the public one, however the target was written', async () => {
  const behind = await startWebhookDaemon({ settings: { baseUrl: 'https://hooks.example.com/' } });
  const secret = 'a-signing-key';
  const webhook = await behind.webhook({ authMode: 'signature', signatureScheme: 'square', secret });
  const path = `/webhooks/w/${webhook.uid}?a=1`;
  // developer.squareup.com/docs/webhooks/step3validate: HMAC-SHA-256 over the notification URL and the body.
  const signature = createHmac('sha256', secret)
    .update(`https://hooks.example.com${path}{}`)
    .digest('base64');
  const headers = { 'x-square-hmacsha256-signature': signature };
  for (const target of [path, `http://internal:8080${path}`]) {
    expect(await send(webhook.url, { target, headers, body: '{}' })).toMatchObject({ status: 202 });
  }
  const target = path.replace('a=1', 'a=2');
  expect(await send(webhook.url, { target, headers, body: '{}' })).toMatchObject({ status: 401 });
});

test('answers pipelined requests in their order', async () => {
  const webhook = await daemon.webhook();
  const connection = await connectTo(webhook.url);
  const with1Byte = (secret: string) =>
    head(webhook.url, [`Authorization: Bearer ${secret}`, 'Content-Length: 1']);
  const [valid, invalid] = [with1Byte(webhook.secret), with1Byte('wrong')];
  const tooLarge = head(webhook.url, [
    `Authorization: Bearer ${webhook.secret}`,
    `Content-Length: ${2 * limit}`,
  ]);
  connection.write(`${valid}1${invalid}1${valid}2${valid}{${valid}1${tooLarge}`);
  const received = await connection.closed;
  expect(received.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual(['202', '401', '202', '400', '202', '413']);
  const [first, second, again] = received.match(/dlv_\w+/g) ?? [];
  expect(again).toBe(first);
  expect(second).not.toBe(first);
});

test('records nothing of an upload that is broken off', async () => {
  const webhook = await daemon.webhook();
  for (const framing of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const connection = await connectTo(webhook.url);
    connection.write(head(webhook.url, [`Authorization: Bearer ${webhook.secret}`, framing]));
    connection.write('2\r\n{}');
    connection.socket.end();
    await connection.closed;
  }
  const metric = `{factory="${webhook.factory}",webhook="hook",result="body-incomplete"} 2`;
  await expect.poll(() => daemon.metrics()).toContain(metric);
  expect(await webhook.post('1')).toMatchObject({ status: 202 });
  expect(await webhook.rows()).toHaveLength(1);
  expect(daemon.logged()).not.toContain('"level":50');
});
