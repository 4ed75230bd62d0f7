import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf, type TestWebhook } from '../../support/daemon.ts';
import { eventually } from '../../support/eventually.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
});
afterAll(() => daemon.stop());

let bodies = 0;

/** Posts a body that no other delivery has, under the headers; gives its row. */
async function rowOf(webhook: TestWebhook, headers: Record<string, string>) {
  const body = `{"n":${++bodies}}`;
  const answer = await webhook.post(body, { headers: { ...bearerOf(webhook.secret), ...headers } });
  expect(answer.status).toBe(202);
  return { ...(await webhook.rows())[0], answered: answer.deliveryId };
}

test('prefers the header that the webhook names to X-Service-Delivery-Id, and that to the body', async () => {
  const webhook = await daemon.webhook({ deliveryIdHeader: 'X-Event-Id' });
  const first = await rowOf(webhook, { 'X-Event-Id': 'event-1', 'X-Service-Delivery-Id': 'service-1' });
  expect(first).toMatchObject({
    identity: 'event-1',
    identitySource: 'deliveryIdHeader',
    outcome: 'Accepted',
  });
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': 'service-1' })).toMatchObject({
    identity: 'service-1',
    identitySource: 'X-Service-Delivery-Id',
    outcome: 'Accepted',
  });
  expect(await rowOf(webhook, {})).toMatchObject({
    identity: expect.stringMatching(/^body-sha256:[0-9a-f]{64}$/),
    identitySource: 'body',
  });
  const again = await rowOf(webhook, { 'x-event-id': ' event-1 ' });
  expect(again).toMatchObject({ outcome: 'Duplicate', duplicateOf: first.id, answered: first.id });
});

test('prefers the header of the signature scheme to X-Service-Delivery-Id', async () => {
  const secret = "It's a Secret to Everybody";
  const webhook = await daemon.webhook({ authMode: 'signature', signatureScheme: 'github', secret });
  const post = async (body: string, headers: Record<string, string>) => {
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const answer = await webhook.post(body, { headers: { 'X-Hub-Signature-256': signature, ...headers } });
    expect(answer.status).toBe(202);
    return (await webhook.rows())[0];
  };
  const both = { 'X-GitHub-Delivery': 'guid-1', 'X-Service-Delivery-Id': 'service-1' };
  expect(await post('{"a":1}', both)).toMatchObject({ identity: 'guid-1', identitySource: 'scheme' });
  expect(await post('{"a":2}', both)).toMatchObject({ outcome: 'Duplicate' });
  expect(await post('{"a":3}', { 'X-Service-Delivery-Id': 'service-1' })).toMatchObject({
    outcome: 'Accepted',
    identity: 'service-1',
  });
  expect(await post('{"a":4}', {})).toMatchObject({ identitySource: 'body' });
});

test('passes over a header that is blank', async () => {
  const webhook = await daemon.webhook({ deliveryIdHeader: 'X-Event-Id' });
  const headers = { 'X-Event-Id': ' \t ', 'X-Service-Delivery-Id': 'service-1' };
  expect(await rowOf(webhook, headers)).toMatchObject({ identity: 'service-1' });
  expect(await rowOf(webhook, { 'X-Event-Id': '', 'X-Service-Delivery-Id': '' })).toMatchObject({
    identitySource: 'body',
  });
});

test('keeps an identity of 256 bytes and hashes a longer one', async () => {
  const webhook = await daemon.webhook();
  const [kept, hashed] = ['k'.repeat(256), 'h'.repeat(257)];
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': kept })).toMatchObject({ identity: kept });
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': hashed })).toMatchObject({
    // printf 'h%.0s' $(seq 257) | sha256sum
    identity: 'sha256:d89060c729238f769dfb7dd9b4bc08e233f5c85afe6532c2344ff83247f3b50a',
    outcome: 'Accepted',
  });
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': hashed })).toMatchObject({ outcome: 'Duplicate' });
});

test('distinguishes identities that differ in one byte which is not ASCII', async () => {
  const webhook = await daemon.webhook();
  const id = (text: string) => ({ 'X-Service-Delivery-Id': Buffer.from(text).toString('latin1') });
  expect(await rowOf(webhook, id('zażółć'))).toMatchObject({ outcome: 'Accepted' });
  expect(await rowOf(webhook, id('zażółč'))).toMatchObject({ outcome: 'Accepted' });
  expect(await rowOf(webhook, id('zażółć'))).toMatchObject({ outcome: 'Duplicate' });
});

test('reads an identity back as the UTF-8 that was sent, and hashes what is not UTF-8', async () => {
  const webhook = await daemon.webhook();
  const id = (bytes: Buffer) => ({ 'X-Service-Delivery-Id': bytes.toString('latin1') });
  for (const text of ['zażółć', '注文-1', 'à']) {
    expect(await rowOf(webhook, id(Buffer.from(text)))).toMatchObject({
      identity: text,
      outcome: 'Accepted',
    });
  }
  // The last byte of "à" is a no-break space in Latin-1.
  expect(await rowOf(webhook, id(Buffer.of(0xe0)))).toMatchObject({
    // printf '\xe0' | sha256sum
    identity: 'sha256:7d8c5da7fd418379048e430b33dc8ffcda739e44326b8a5d647dc0ad81ed2157',
    outcome: 'Accepted',
  });
});

test('never lets one source of identities take the identity of another', async () => {
  const webhook = await daemon.webhook({ deliveryIdHeader: 'X-Event-Id' });
  const headers = bearerOf(webhook.secret);
  const body = '{"order":1}';
  const ofBody = `body-sha256:${createHash('sha256').update(body).digest('hex')}`;
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': ofBody })).toMatchObject({ outcome: 'Accepted' });
  expect(await rowOf(webhook, { 'X-Event-Id': ofBody })).toMatchObject({ outcome: 'Accepted' });
  await webhook.post(body, { headers });
  expect((await webhook.rows())[0]).toMatchObject({
    identity: ofBody,
    identitySource: 'body',
    outcome: 'Accepted',
  });
});

test('never lets a short identity take the hash of a long one', async () => {
  const webhook = await daemon.webhook();
  const long = 'h'.repeat(257);
  const hashOfLong = `sha256:${createHash('sha256').update(long).digest('hex')}`;
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': hashOfLong })).toMatchObject({
    outcome: 'Accepted',
  });
  expect(await rowOf(webhook, { 'X-Service-Delivery-Id': long })).toMatchObject({ outcome: 'Accepted' });
});

test.each(['constructor', '__proto__'])(
  'serves a webhook that names the header %s',
  async deliveryIdHeader => {
    const webhook = await daemon.webhook({ deliveryIdHeader });
    expect(await rowOf(webhook, {})).toMatchObject({ identitySource: 'body' });
  },
);

test('a delivery that was logged by its body stays recognised once a field is named', async () => {
  const webhook = await daemon.webhook();
  const headers = bearerOf(webhook.secret);
  const before = await webhook.post('{"id":"evt_1"}', { headers });
  const { serial } = await webhook.apply({ deliveryIdField: '$.id' });
  await eventually(async () => (await webhook.readiness())?.serial === serial);
  const again = await webhook.post('{"id":"evt_1"}', { headers });
  expect(again).toMatchObject({ status: 202, deliveryId: before.deliveryId });
  expect((await webhook.rows())[0]).toMatchObject({
    outcome: 'Duplicate',
    identity: 'evt_1',
    identitySource: 'deliveryIdField',
    duplicateOf: before.deliveryId,
  });
  const other = await webhook.post('{"id":"evt_2"}', { headers });
  expect(other.deliveryId).not.toBe(before.deliveryId);
});
