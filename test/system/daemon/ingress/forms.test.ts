import { createHmac } from 'node:crypto';
import { sign as signGithub } from '@octokit/webhooks-methods';
import twilio from 'twilio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJsonText } from '../../../../json/parse-json-text.ts';
import { bearerOf, type TestWebhook } from '../../../support/daemon.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

const baseUrl = 'https://hooks.example.com';

let daemon: WebhookDaemon;
let webhook: TestWebhook;
beforeAll(async () => {
  daemon = await openWebhookDaemon({ settings: { baseUrl, limits: { deliveriesPerMinute: 1_000 } } });
  webhook = await daemon.webhook({ bodyFormat: 'form' });
});
afterAll(() => daemon.stop());

/** Posts a body that must be accepted; returns its payload. */
async function payloadOf(
  to: TestWebhook,
  body: string | Uint8Array,
  headers: Record<string, string> = bearerOf(to.secret),
): Promise<unknown> {
  const { status, body: answer } = await to.post(body, { headers });
  const [row] = await to.rows();
  expect({ status, answer, row }).toMatchObject({
    status: expect.toSatisfy(code => [200, 202].includes(code)),
    row: { outcome: 'Accepted' },
  });
  const deliveryId = row?.id ?? '';
  expect(await to.body(deliveryId)).toEqual(Buffer.from(body));
  return parseJsonText(Buffer.from((await to.payload(deliveryId)) ?? []).toString());
}

test.each<[string, string, unknown]>([
  ['texts, which stay texts', 'a=1&b=true&c=', { a: '1', b: 'true', c: '' }],
  ['a repeated name as a list', 'a=1&b=2&a=3', { a: ['1', '3'], b: '2' }],
  ['a name 1,000 times', 'a=x&'.repeat(1_000), { a: Array(1_000).fill('x') }],
  ['names that look like lists as they are', 'a[]=1&a[0][b]=2', { 'a[]': '1', 'a[0][b]': '2' }],
  ['broken percent sequences as they are', 'a=%&b=%u0041', { a: '%', b: '%u0041' }],
  ['NUL', 'a%00b=%00', { 'a\0b': '\0' }],
  ['raw UTF-8', 'ä=ö', { ä: 'ö' }],
  ['text that no field separates', 'hello', { hello: '' }],
])('makes a payload of a form: %s', async (_, body, payload) => {
  expect(await payloadOf(webhook, body)).toEqual(payload);
});

test('keeps names that every object inherits as fields of the payload', async () => {
  const payload = await payloadOf(webhook, '__proto__=1&constructor=2&__proto__=3&toString=4');
  expect(Object.entries(payload as object)).toEqual([
    ['__proto__', ['1', '3']],
    ['constructor', '2'],
    ['toString', '4'],
  ]);
  expect(Object.getPrototypeOf(payload)).toBe(Object.prototype);
});

test.each<[string, string | Uint8Array, string, string]>([
  [
    '1,001 fields',
    'a=1&'.repeat(1_001),
    'the form has more than 1000 fields',
    'Set the sender to send a form in UTF-8',
  ],
  [
    '256 KiB of separators',
    '&'.repeat(256 * 1024),
    'the form has no fields',
    'Set the sender to send a form in UTF-8',
  ],
  [
    'a byte that is not UTF-8',
    'b=1&a=%FF',
    'field 2 of the form is not text in UTF-8',
    'Set the sender to send a form in UTF-8',
  ],
  [
    'an overlong slash',
    'a=%C0%AF',
    'field 1 of the form is not text in UTF-8',
    'Set the sender to send a form in UTF-8',
  ],
  [
    'an encoded surrogate',
    '%ED%A0%80=a',
    'field 1 of the form is not text in UTF-8',
    'Set the sender to send a form in UTF-8',
  ],
  [
    'JSON',
    ' {"a":1}',
    'the body is JSON, not a form',
    'Write `bodyFormat: json` into the file of the webhook',
  ],
])('answers 400 to %s, and tells the owner why', async (_, body, reason, remedy) => {
  const own = await daemon.webhook({ bodyFormat: 'form' });
  expect((await own.post(body)).status).toBe(400);
  expect(await own.rowsOnce(1)).toMatchObject([
    { outcome: 'Rejected (invalid JSON)', reason: `${reason}\n${remedy}` },
  ]);
});

test('answers 400 to an empty body', async () => {
  const own = await daemon.webhook({ bodyFormat: 'form' });
  expect((await own.post('')).status).toBe(400);
  expect(await own.rowsOnce(1)).toMatchObject([{ reason: 'the body is empty' }]);
});

test('takes the JSON in the field that the webhook names, to the byte', async () => {
  const own = await daemon.webhook({ bodyFormat: 'form', payloadField: 'payload' });
  const json = '{ "id": 12345678901234567890, "n": 1.0, "a": 1, "a": 2 }';
  const body = new URLSearchParams({ token: 'x', payload: json }).toString();
  const { deliveryId = '' } = await own.post(body);
  expect(Buffer.from((await own.payload(deliveryId)) ?? []).toString()).toBe(json);
});

test.each([
  ['a form without that field', 'a=1', 'the form has no field payload'],
  ['a form with that field twice', 'payload={}&payload={}', 'the form has several fields payload'],
  ['a field that is not JSON', 'payload={', 'the field payload of the form is not JSON'],
])('answers 400 to %s', async (_, body, reason) => {
  const own = await daemon.webhook({ bodyFormat: 'form', payloadField: 'payload' });
  expect((await own.post(body)).status).toBe(400);
  const remedy = 'Correct `payloadField`, or remove it: then the fields are the payload';
  expect(await own.rowsOnce(1)).toMatchObject([{ reason: `${reason}\n${remedy}` }]);
});

const form = { 'content-type': 'application/x-www-form-urlencoded' };

test.each([
  ['its fields', 'a=1&b=2', {}, '`bodyFormat: form`'],
  ['JSON in a field', 'payload=%7B%22a%22%3A1%7D', {}, '`bodyFormat: form` and `payloadField: payload`'],
  ['what its content type says', '%7B%22a%22%3A1%7D', form, '`bodyFormat: form`'],
])(
  'offers the line to the owner of a webhook for JSON that gets a form: %s',
  async (_, body, headers, lines) => {
    const own = await daemon.webhook();
    expect((await own.post(body, { headers: { ...bearerOf(own.secret), ...headers } })).status).toBe(400);
    const remedy = `Set the sender to send JSON (application/json), or write ${lines} into the file of the webhook`;
    expect(await own.rowsOnce(1)).toMatchObject([{ reason: `the body is a form\n${remedy}` }]);
  },
);

test("accepts GitHub's forms, and verifies them before it reads them", async () => {
  const github = { authMode: 'signature', signatureScheme: 'github', secret: 'secret' };
  const own = await daemon.webhook({ ...github, bodyFormat: 'form', payloadField: 'payload' });
  const body = `payload=${encodeURIComponent('{"action":"opened"}')}`;
  const signed = { 'X-Hub-Signature-256': await signGithub('secret', body) };
  expect(await payloadOf(own, body, signed)).toEqual({ action: 'opened' });
  expect((await own.post(body.replace('%22', '"'), { headers: signed })).status).toBe(401);
});

test('accepts what Twilio signs, and finds a retry by its token', async () => {
  const own = await daemon.webhook({ authMode: 'signature', signatureScheme: 'twilio', secret: 'token' });
  const parameters = { Body: 'Zoë & Ko', From: '+14158675309', MessageSid: 'SM1' };
  const body = new URLSearchParams(parameters).toString();
  const url = `${baseUrl}/webhooks/w/${own.uid}`;
  const signature = twilio.getExpectedTwilioSignature('token', url, parameters);
  const signed = { 'X-Twilio-Signature': signature, 'I-Twilio-Idempotency-Token': 'a' };
  expect(await payloadOf(own, body, signed)).toEqual(parameters);
  await own.post(body, { headers: signed });
  expect(await own.rows()).toMatchObject([{ outcome: 'Duplicate' }, { outcome: 'Accepted', identity: 'a' }]);
  expect((await own.post(`${body}&x=1`, { headers: signed })).status).toBe(401);
});

test('accepts JSON that Twilio signs, if the webhook expects it', async () => {
  const twilioJson = {
    authMode: 'signature',
    signatureScheme: 'twilio',
    bodyFormat: 'json',
    secret: 'token',
  };
  const own = await daemon.webhook(twilioJson);
  const body = '{"sid":"EV1"}';
  const query = `?bodySHA256=${twilio.getExpectedBodyHash(body)}`;
  const url = `${baseUrl}/webhooks/w/${own.uid}${query}`;
  const headers = { 'X-Twilio-Signature': twilio.getExpectedTwilioSignature('token', url, {}) };
  const target = `/webhooks/w/${own.uid}${query}`;
  expect((await own.post(body, { headers, target })).status).toBe(202);
  expect((await own.post('{"sid":"EV2"}', { headers, target })).status).toBe(401);
});

test("accepts Slack's commands and interactivity, each at a webhook of its own", async () => {
  const slack = { authMode: 'signature', signatureScheme: 'slack-forms', secret: 'secret' };
  const sign = (body: string) => {
    const at = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', 'secret').update(`v0:${at}:${body}`).digest('hex');
    return { 'X-Slack-Request-Timestamp': at, 'X-Slack-Signature': `v0=${signature}` };
  };
  const command = 'command=%2Fdeploy&text=api+now&trigger_id=1.2';
  const fields = { command: '/deploy', text: 'api now', trigger_id: '1.2' };
  expect(await payloadOf(await daemon.webhook(slack), command, sign(command))).toEqual(fields);
  const interaction = `payload=${encodeURIComponent('{"type":"block_actions"}')}`;
  const own = await daemon.webhook({ ...slack, payloadField: 'payload' });
  expect(await payloadOf(own, interaction, sign(interaction))).toEqual({ type: 'block_actions' });
});

test("accepts Mandrill's events, after it was asked whether the URL is there", async () => {
  const own = await daemon.webhook({ authMode: 'signature', signatureScheme: 'mandrill', secret: 'key' });
  const path = `/webhooks/w/${own.uid}`;
  expect((await own.post('', { method: 'HEAD', headers: {}, target: path })).status).toBe(200);
  const events = '[{"event":"open","_id":"1"}]';
  const signature = createHmac('sha1', 'key').update(`${baseUrl}${path}mandrill_events${events}`);
  const headers = { 'X-Mandrill-Signature': signature.digest('base64') };
  expect(await payloadOf(own, new URLSearchParams({ mandrill_events: events }).toString(), headers)).toEqual([
    { event: 'open', _id: '1' },
  ]);
});

test('reads a stored form as it was accepted, also when the webhook expects JSON since', async () => {
  const own = await daemon.webhook({ bodyFormat: 'form', payloadField: 'payload' });
  const { deliveryId = '' } = await own.post('payload=%5B1%5D');
  await own.apply({});
  const [row] = await own.rows();
  expect(row).toMatchObject({ outcome: 'Accepted', form: { payloadField: 'payload' } });
  expect(Buffer.from((await own.payload(deliveryId)) ?? []).toString()).toBe('[1]');
  await own.apply(null);
  expect(Buffer.from((await own.payload(deliveryId)) ?? []).toString()).toBe('[1]');
});
