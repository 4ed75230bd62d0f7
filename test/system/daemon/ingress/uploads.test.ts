import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UnverifiedBodies } from '../../../../daemon/http/bodies.ts';
import type { TestWebhook } from '../../../support/daemon.ts';
import { connectTo, head } from '../../../support/http.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon({ settings: { limits: { failedAuthPerMinute: 1_000 } } });
});
afterAll(() => daemon.stop());

const limit = 262_144;
const signed = { authMode: 'signature', signatureScheme: 'github' };
/** `count` bytes of JSON white space, each in a chunk of its own. */
const inChunks = (count: number) => Buffer.from('1\r\n \r\n'.repeat(count));
const chunked = 'Transfer-Encoding: chunked';

function postSigned(webhook: TestWebhook, body: string, localAddress: string) {
  const signature = createHmac('sha256', webhook.secret).update(body).digest('hex');
  return webhook.post(body, { localAddress, headers: { 'x-hub-signature-256': `sha256=${signature}` } });
}

async function readMemory(): Promise<number> {
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(await daemon.metrics())?.[1]);
}

test('cuts off bodies in tiny chunks before their sender is verified, while others deliver', async () => {
  const [attacked, other] = [await daemon.webhook(signed), await daemon.webhook(signed)];
  const before = await readMemory();
  const connections = await Promise.all(Array.from({ length: 16 }, () => connectTo(attacked.url)));
  for (const { write } of connections) {
    write(head(attacked.url, [chunked]));
    write(inChunks(100_000));
  }
  expect(await postSigned(other, '{}', '127.0.0.2')).toMatchObject({ status: 202 });
  for (const { receives } of connections) {
    const received = await receives(/\r\n\r\n.*\}/s);
    expect(received).toMatch(/^HTTP\/1\.1 400 .*\r\nConnection: close\r\n.*too many tiny pieces/s);
  }
  expect((await readMemory()) - before).toBeLessThan(150_000_000);
  const reason = 'the body arrived in too many tiny pieces';
  expect(await attacked.rowsOnce(16)).toMatchObject(Array(16).fill({ outcome: 'Rejected (auth)', reason }));
});

test('reads a small body byte by byte before its sender is verified, and any body of a verified one', async () => {
  const webhook = await daemon.webhook(signed);
  const signature = createHmac('sha256', webhook.secret)
    .update(`${' '.repeat(500)}1`)
    .digest('hex');
  const connection = await connectTo(webhook.url);
  connection.write(head(webhook.url, [chunked, `X-Hub-Signature-256: sha256=${signature}`]));
  for (const bytes of [inChunks(500), '1\r\n1\r\n0\r\n\r\n']) connection.write(bytes);
  expect(await connection.receives(/\}/)).toMatch(/^HTTP\/1\.1 202 /);

  const token = await daemon.webhook();
  const verified = await connectTo(token.url);
  verified.write(head(token.url, [chunked, `Authorization: Bearer ${token.secret}`]));
  for (const bytes of [inChunks(limit - 1), '1\r\n1\r\n0\r\n\r\n']) verified.write(bytes);
  expect(await verified.receives(/\}/)).toMatch(/^HTTP\/1\.1 202 /);
  expect(await token.rows()).toMatchObject([{ outcome: 'Accepted', size: limit }]);
});

test('bounds the memory of what one address uploads unverified, while others deliver', async () => {
  const [attacked, other] = [await daemon.webhook(signed), await daemon.webhook(signed)];
  const connections = await Promise.all(Array.from({ length: 40 }, () => connectTo(attacked.url)));
  for (const { write } of connections) {
    write(head(attacked.url, [`Content-Length: ${limit}`]));
    write(Buffer.alloc(limit - 1, ' '));
  }
  // An address may have 8 MiB; a body counts as 256 KiB and 8 KiB: there is room for 31.
  const refused = 'result="too-many-uploads"} 9';
  await expect
    .poll(() => daemon.metrics())
    .toContain(`{factory="${attacked.factory}",webhook="hook",${refused}`);
  expect(await postSigned(other, '{}', '127.0.0.2')).toMatchObject({ status: 202 });
  const answers = [];
  for (const { write, receives } of connections) {
    write(' ');
    answers.push(await receives(/\r\n\r\n.*\}/s));
  }
  const tooMany = answers.filter(text => text.startsWith('HTTP/1.1 429 '));
  expect(tooMany).toHaveLength(9);
  for (const text of tooMany) expect(text).toMatch(/\r\nRetry-After: 10\r\nConnection: close\r\n/);
  expect(answers.filter(text => text.startsWith('HTTP/1.1 401 '))).toHaveLength(31);
  expect(await postSigned(other, '[]', '127.0.0.1')).toMatchObject({ status: 202 });
});

test('lets the oldest upload of the address with most give way when all memory is taken', () => {
  const bodies = new UnverifiedBodies(limit);
  const ended: string[] = [];
  const upload = (address: string, name: string, bytes: number) => {
    const room = bodies.enter(address);
    room?.onGiveWay(() => {
      ended.push(name);
      room.leave();
    });
    return room?.grow(bytes) ?? false;
  };
  const eighth = 1024 * 1024 - 8 * 1024;
  for (const address of ['a', 'b', 'c', 'd']) {
    for (let n = 1; n <= (address === 'd' ? 7 : 8); n++)
      expect(upload(address, `${address}${n}`, eighth)).toBe(true);
  }
  expect(upload('a', 'a9', 1)).toBe(false);
  expect(upload('honest', 'first', eighth)).toBe(true);
  expect(ended).toEqual([]);
  expect(upload('honest', 'second', eighth)).toBe(true);
  expect(ended).toEqual(['a1']);
});
