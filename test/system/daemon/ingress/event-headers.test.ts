import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
});
afterAll(() => daemon.stop());

test('keeps the content type, the user agent, and the headers that the webhook names, and nothing else', async () => {
  const webhook = await daemon.webhook({ deliveryIdHeader: 'X-Event-Id', keepHeaders: ['X-Tenant'] });
  await webhook.post('{}', {
    headers: {
      ...bearerOf(webhook.secret),
      'Content-Type': 'application/json; charset=utf-8',
      'User-Agent': 'acme/1',
      'X-EVENT-ID': 'evt-1',
      'x-tenant': ' shop ',
      'X-Other': 'no',
      'X-Api-Key': 'canary',
      Cookie: 'canary',
    },
  });
  expect((await webhook.rows())[0]?.headers).toEqual({
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'acme/1',
    'x-event-id': 'evt-1',
    'x-tenant': 'shop',
  });
});

test("keeps the event and ID headers of the scheme's sender, and not its signature", async () => {
  const secret = 'a secret of github';
  const webhook = await daemon.webhook({ authMode: 'signature', signatureScheme: 'github', secret });
  const signature = `sha256=${createHmac('sha256', secret).update('{}').digest('hex')}`;
  const event = { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'guid-1', 'X-GitHub-Hook-ID': '7' };
  await webhook.post('{}', { headers: { 'X-Hub-Signature-256': signature, ...event } });
  expect((await webhook.rows())[0]?.headers).toEqual({
    'x-github-event': 'push',
    'x-github-delivery': 'guid-1',
  });
});

test('keeps a repeated header as one value, also Content-Type, and an empty value', async () => {
  const webhook = await daemon.webhook({ keepHeaders: ['X-Tenant', 'X-Empty', 'X-Missing'] });
  const { status } = await webhook.post('{}', {
    headers: {
      ...bearerOf(webhook.secret),
      'Content-Type': ['application/json', 'text/plain'],
      'X-Tenant': ['a', 'b, c'],
      'X-Empty': '',
    },
  });
  expect(status).toBe(202);
  expect((await webhook.rows())[0]?.headers).toEqual({
    'content-type': 'application/json, text/plain',
    'x-tenant': 'a, b, c',
    'x-empty': '',
  });
});

test('keeps UTF-8 as text, other bytes as Latin-1, and 256 characters at most', async () => {
  const keepHeaders = ['X-Text', 'X-Bytes', 'X-Long', 'X-Full'];
  const webhook = await daemon.webhook({ keepHeaders });
  const { status } = await webhook.post('{}', {
    headers: {
      ...bearerOf(webhook.secret),
      'X-Text': Buffer.from('Grüße 🎉').toString('latin1'),
      'X-Bytes': '\xff\xe9',
      'X-Long': 'a'.repeat(257),
      'X-Full': 'a'.repeat(256),
    },
  });
  expect(status).toBe(202);
  expect((await webhook.rows())[0]?.headers).toEqual({
    'x-text': 'Grüße 🎉',
    'x-bytes': 'ÿé',
    'x-long': `${'a'.repeat(255)}…`,
    'x-full': 'a'.repeat(256),
  });
});

test('keeps none of a duplicate, of a rejected delivery, or of a stranger', async () => {
  const webhook = await daemon.webhook({ keepHeaders: ['X-Tenant'] });
  const send = (body: string, headers: Record<string, string>) =>
    webhook.post(body, { headers: { 'X-Tenant': 'shop', ...headers } });
  await send('{}', bearerOf(webhook.secret));
  await send('{}', bearerOf(webhook.secret));
  await send('{', bearerOf(webhook.secret));
  await send('{}', bearerOf('wrong'));
  const rows = await webhook.rowsOnce(4);
  expect(rows.map(({ outcome, headers }) => [outcome, headers?.['x-tenant']]).sort()).toEqual([
    ['Accepted', 'shop'],
    ['Duplicate', undefined],
    ['Rejected (auth)', undefined],
    ['Rejected (invalid JSON)', undefined],
  ]);
});
