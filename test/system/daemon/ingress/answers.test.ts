import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearerOf } from '../../../support/daemon.ts';
import { send } from '../../../support/http.ts';
import { type InProcessDaemon, startInProcessDaemon } from '../../../support/in-process-daemon.ts';

const secret = 'a secret of thirty-two bytes, ok';
const given = [
  { scheme: 'lemonsqueezy', secret },
  { scheme: 'github', secret },
  { secret, deliveryIdHeader: 'ce-id', keepHeaders: ['ce-type', 'ce-source'] },
  { scheme: 'slack-forms', secret },
];

let daemon: InProcessDaemon;
beforeAll(async () => {
  daemon = await startInProcessDaemon(given);
});
afterAll(() => daemon.stop());

const urlOf = (index: number) => daemon.webhooks[index]?.url ?? '';
const mac = (body: string) => createHmac('sha256', secret).update(body).digest('hex');

test('a provider that asks for 200 gets it, for a delivery and for its duplicate; others get 202', async () => {
  for (const [index, header, prefix, status] of [
    [0, 'X-Signature', '', 200],
    [1, 'X-Hub-Signature-256', 'sha256=', 202],
  ] as const) {
    const body = `{"n":${index}}`;
    const headers = { [header]: prefix + mac(body) };
    const first = await send(urlOf(index), { headers, body });
    const again = await send(urlOf(index), { headers, body });
    expect([first.status, again.status]).toEqual([status, status]);
    expect(first.deliveryId).toMatch(/^dlv_/);
    expect(again.deliveryId).toBe(first.deliveryId);
    const outcomes = (await daemon.webhooks[index]?.rows())?.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['Duplicate', 'Accepted']);
    expect(await send(urlOf(index), { headers, body: `${body} ` })).toMatchObject({ status: 401 });
  }
});

test('an answer that the provider would show to a person is empty', async () => {
  const at = String(Math.floor(Date.now() / 1_000));
  const body = 'command=%2Fdeploy&text=api';
  const headers = { 'X-Slack-Request-Timestamp': at, 'X-Slack-Signature': `v0=${mac(`v0:${at}:${body}`)}` };
  const answer = await send(urlOf(3), { headers, body });
  expect(answer).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
  expect(answer.headers['content-type']).toBeUndefined();
  expect(await daemon.webhooks[3]?.rows()).toMatchObject([{ outcome: 'Accepted' }]);
});

// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md, section 3.1
test('a CloudEvent in binary mode is identified by ce-id, and its type and source are kept', async () => {
  const event = (id: string, attempt: number) => ({
    headers: {
      ...bearerOf(secret),
      'Content-Type': 'application/json; charset=utf-8',
      'ce-specversion': '1.0',
      'ce-type': 'com.example.order.created',
      'ce-source': '/shops/7',
      'ce-id': id,
      'ce-time': '2026-11-25T02:24:21Z',
    },
    body: JSON.stringify({ order: 17, attempt }),
  });
  const first = await send(urlOf(2), event('A234-1234-1234', 1));
  const again = await send(urlOf(2), event('A234-1234-1234', 2));
  const other = await send(urlOf(2), event('A234-1234-1235', 1));
  expect([first, again, other].map(({ status }) => status)).toEqual([202, 202, 202]);
  expect(again.deliveryId).toBe(first.deliveryId);
  expect(other.deliveryId).not.toBe(first.deliveryId);
  const rows = (await daemon.webhooks[2]?.rows()) ?? [];
  expect(rows.map(({ outcome }) => outcome)).toEqual(['Accepted', 'Duplicate', 'Accepted']);
  expect(rows[0]?.headers).toEqual({
    'content-type': 'application/json; charset=utf-8',
    'ce-id': 'A234-1234-1235',
    'ce-type': 'com.example.order.created',
    'ce-source': '/shops/7',
  });
});
