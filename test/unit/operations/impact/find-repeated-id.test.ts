import { expect, test } from 'vitest';
import { findRepeatedId } from '../../../../operations/impact/find-repeated-id.ts';
import type { AppliedWebhook } from '../../../../schema/applied-state.ts';
import { describeRepeatedId } from '../../../../schema/clients/describe.ts';

const webhook = { name: 'pay', uid: 'wh_000000000000000000000pay' } as AppliedWebhook;

/** What is found among deliveries with these payloads, the newest first. */
async function find(payloads: readonly unknown[], identitySource: 'body' | 'scheme' = 'body') {
  return findRepeatedId(webhook, {
    listLastAccepted: async () =>
      payloads.map((_, index) => {
        const id = `dlv_${index}`;
        return { id, webhook: 'pay', uid: webhook.uid, atMs: -index, size: 100, identitySource };
      }),
    readPayload: async id => {
      const payload = payloads[Number(id.slice('dlv_'.length))];
      const toJson = () => JSON.stringify(payload);
      return { payload, toJson, body: Buffer.from(toJson()) };
    },
  });
}

const event = (id: unknown, attempt = 1) => ({ id, attempt, order: { id: 7 } });

test('an ID that repeats while others are unique: its path, and how often', async () => {
  const found = await find([event('e4'), event('e3'), event('e2', 2), event('e2', 1), event('e1')]);
  expect(found).toEqual({ field: '$.id', deliveries: 1, judged: 5, example: ['dlv_3', 'dlv_2'] });
  expect(found && describeRepeatedId(found)).toBe(
    '1 of the last 5 deliveries has the same $.id as an earlier one, and was accepted again',
  );
});

test.each([
  ['in an envelope', (id: number, n: number) => ({ meta: { id }, n }), '$.meta.id'],
  [
    'named after the event',
    (id: number, n: number) => ({ data: { event_id: `${id}` }, n }),
    '$.data.event_id',
  ],
  [
    'with an odd name',
    (id: number, n: number) => ({ 'event-meta': { eventId: id }, n }),
    '$["event-meta"].eventId',
  ],
])('an ID %s is found', async (_, payload, field) => {
  expect(await find([payload(1, 1), payload(1, 2), payload(2, 1), payload(3, 1)])).toMatchObject({ field });
});

test.each([
  ['unique', [event(1), event(2), event(3), event(4)]],
  ['the same everywhere', [event(1, 1), event(1, 2), event(1, 3), event(1, 4)]],
  ['of objects with many events', [1, 2, 3, 4].flatMap(id => [event(id, 1), event(id, 2), event(id, 3)])],
  ['of the object, by its name', [1, 1, 2, 3].map((id, n) => ({ order_id: id, order: { id }, n }))],
  ['null', [event(null, 1), event(null, 2), event(1), event(2), event(3)]],
  ['in too few deliveries', [event(1, 1), event(1, 2)]],
])('an ID that is %s is no ID of repeated events', async (_, payloads) => {
  expect(await find(payloads)).toBeUndefined();
});

test('what an ID of the sender identified is not searched', async () => {
  expect(await find([event('e2', 2), event('e2', 1), event('e1'), event('e3')], 'scheme')).toBeUndefined();
});
