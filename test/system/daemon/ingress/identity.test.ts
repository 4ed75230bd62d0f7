import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { eventually } from '../../../support/eventually.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../../../support/webhook-daemon.ts';

let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
});
afterAll(() => daemon.stop());

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
