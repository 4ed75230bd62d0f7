import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf, type TestWebhook } from '../../../support/daemon.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
let webhook: TestWebhook;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
  webhook = await daemon.webhook();
});
afterAll(() => daemon.stop());

const deep = 131_072;
const form = 'application/x-www-form-urlencoded';
const formReason = `the body is a form
Set the sender to send JSON (application/json), or write \`bodyFormat: form\` and \`payloadField: payload\` into the file of the webhook`;

test.each<[string, string | Uint8Array]>([
  ['an object', '{"a":{"b":[1,2]}}'],
  ['an array', '[]'],
  ['a string', '"text"'],
  ['a number', '-0.5e-3'],
  ['true', 'true'],
  ['null', 'null'],
  ['white space around the value', ' \t\r\n{}\n'],
  ['a byte order mark', '\ufeff{"a":1}'],
  ['a number that overflows', '1e400'],
  ['an escaped lone surrogate', '"\\ud800"'],
  ['a key that appears twice', '{"a":1,"a":2}'],
  ['__proto__ as a key', '{"__proto__":{"admin":true}}'],
  ['arrays nested as deep as a body can hold', '['.repeat(deep) + ']'.repeat(deep)],
])('accepts %s', async (_, body) => {
  const { status, deliveryId = '' } = await webhook.post(body);
  expect(status).toBe(202);
  expect(await webhook.payload(deliveryId)).toEqual(Buffer.from(String(body).replace('\ufeff', '')));
});

test.each<[string, string | Uint8Array, string, string?]>([
  ['where the mistake is', '{\n  "a": x}', 'the body is not JSON: a value is expected at line 2, column 8'],
  ['an empty body', '', 'the body is empty'],
  ['what follows', '{}{}', 'the body is not JSON: the end of the body is expected at line 1, column 3'],
  ['form data', 'payload=%7B%7D', formReason, form],
  ['XML', '<a/>', 'the body looks like XML or HTML; set the sender to send JSON'],
  ['other encodings', Buffer.from('"é"', 'latin1'), 'the body is not text in UTF-8'],
])('tells the owner of the webhook %s', async (_, body, reason, type = 'application/json') => {
  const own = await daemon.webhook();
  await own.post(body, { headers: { ...bearerOf(own.secret), 'content-type': type } });
  expect(await own.rowsOnce(1)).toMatchObject([{ outcome: 'Rejected (invalid JSON)', reason }]);
});

// One webhook for all: 17 refusals are within its minute.
test.each<[string, string | Uint8Array]>([
  ['an empty body', ''],
  ['only white space', ' \r\n\t'],
  ['UTF-8 cut short', Buffer.from([0x22, 0xc3, 0x22])],
  ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['Latin-1', Buffer.from('"é"', 'latin1')],
  ['UTF-16', Buffer.from('{}', 'utf16le')],
  ['two values', '{}{}'],
  ['a trailing comma', '[1,]'],
  ['a comment', '{} // yes'],
  ['NaN', 'NaN'],
  ['single quotes', "{'a':1}"],
  ['a control character in a string', '"\u0001"'],
  ['a no-break space around the value', '\u00a0{}'],
  ['a leading zero', '01'],
  ['form data', 'payload=%7B%7D'],
  ['arrays that are never closed', '['.repeat(2 * deep)],
])('refuses %s with 400', async (_, body) => {
  const logged = (await webhook.rows()).length;
  expect(await webhook.post(body)).toMatchObject({
    status: 400,
    headers: { 'content-type': 'application/problem+json' },
  });
  expect((await webhook.rowsOnce(logged + 1))[0]).toMatchObject({ outcome: 'Rejected (invalid JSON)' });
});

test('never undoes a compression', async () => {
  const headers = { ...bearerOf(webhook.secret), 'content-encoding': 'gzip' };
  expect(await webhook.post(gzipSync('{"a":1}'), { headers })).toMatchObject({ status: 400 });
});

test('ignores the Content-Type', async () => {
  const headers = { ...bearerOf(webhook.secret), 'content-type': 'text/plain; charset=utf-16' };
  expect(await webhook.post('{"type":"plain"}', { headers })).toMatchObject({ status: 202 });
});

test.each<[string, Uint8Array, Record<string, string>]>([
  ['gzip', gzipSync('{}'), {}],
  ['any coding that Content-Encoding names', brotliCompressSync('{}'), { 'content-encoding': 'br' }],
])('tells the sender that the body is compressed: %s', async (_, body, headers) => {
  const own = await daemon.webhook();
  const { status, body: answer } = await own.post(body, { headers: { ...bearerOf(own.secret), ...headers } });
  expect([status, JSON.parse(answer).detail]).toEqual([
    400,
    'The body is compressed. Send it as it is, without Content-Encoding.',
  ]);
  const reason = 'the body is compressed; set the sender to send it as it is';
  expect(await own.rowsOnce(1)).toMatchObject([{ outcome: 'Rejected (invalid JSON)', reason }]);
});
