import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { toClientAddress } from '../../../../daemon/http/client-address.ts';
import { createMemoryBudgets } from '../../../../daemon/ingress/budgets.ts';
import { bearerOf } from '../../../support/daemon.ts';
import { connectTo, head, send } from '../../../support/http.ts';
import { startInProcessDaemon } from '../../../support/in-process-daemon.ts';
import {
  openWebhookDaemon,
  startWebhookDaemon,
  type WebhookDaemon,
} from '../../../support/webhook-daemon.ts';

/** The daemon of the tests about the usual limits. */
let daemon: WebhookDaemon;
beforeAll(async () => {
  daemon = await openWebhookDaemon();
});
afterAll(() => daemon.stop());

const limits = { deliveriesPerMinute: 60, failedAuthPerMinute: 30, failedAuthPerMinuteTotal: 300 };
const uid = 'wh_0123456789abcdefghijklmn';
const wrong = { headers: bearerOf('wrong') };

test('one webhook may have a rate limit of its own, which others do not share', async () => {
  const secret = 'a-token-of-the-sender';
  const both = [{ secret }, { secret }];
  const daemon = await startInProcessDaemon(both, {
    limits: { deliveriesPerMinute: 1 },
    webhooks: { 'factory-0/hook-01': { deliveriesPerMinute: 3 } },
  });
  onTestFinished(() => daemon.stop());
  const post = async ({ url }: { readonly url: string }) => {
    const answers = await Promise.all(
      [1, 2, 3, 4].map(n => send(url, { headers: bearerOf(secret), body: `${n}` })),
    );
    const refused = answers.find(({ status }) => status === 429);
    return [
      answers.filter(({ status }) => status === 202).length,
      refused && JSON.parse(refused.body).detail,
    ];
  };
  const answered = await Promise.all(daemon.webhooks.map(post));
  expect(answered).toEqual([
    [1, expect.stringMatching(/^Rate limit reached: 1 deliveries per minute\./)],
    [3, expect.stringMatching(/^Rate limit reached: 3 deliveries per minute\./)],
  ]);
});

describe('Retry-After', () => {
  let nowMs = 0;
  const createBudgets = () => createMemoryBudgets(limits, () => nowMs);

  test('of the 61st delivery of a minute is true to the second', () => {
    const budgets = createBudgets();
    for (let n = 0; n < 60; n++) {
      expect(budgets.countDelivery(uid)).toBeUndefined();
      nowMs += 200;
    }
    expect(budgets.countDelivery(uid)).toEqual({ retryAfterSeconds: 48 });
    nowMs += 47_000;
    expect(budgets.countDelivery(uid)).toEqual({ retryAfterSeconds: 1 });
    nowMs += 1_000;
    expect(budgets.countDelivery(uid)).toBeUndefined();
  });

  test('of the 31st failed attempt of an address is true to the second', () => {
    const budgets = createBudgets();
    for (let n = 0; n < 30; n++) {
      expect(budgets.checkGuessing(uid, '192.0.2.1')).toBeUndefined();
      budgets.countFailure(uid, '192.0.2.1');
    }
    nowMs += 15_000;
    expect(budgets.checkGuessing(uid, '192.0.2.1')).toEqual({ retryAfterSeconds: 45 });
    expect(budgets.checkGuessing(uid, '192.0.2.2')).toBeUndefined();
    nowMs += 44_000;
    expect(budgets.checkGuessing(uid, '192.0.2.1')).toEqual({ retryAfterSeconds: 1 });
    nowMs += 1_000;
    expect(budgets.checkGuessing(uid, '192.0.2.1')).toBeUndefined();
  });

  test('does not follow the wall clock', async () => {
    const daemon = await startInProcessDaemon([{ scheme: 'github', secret: 'a-signing-secret' }], {
      limits: { failedAuthPerMinute: 1 },
    });
    onTestFinished(() => daemon.stop());
    const url = daemon.webhooks[0]?.url ?? '';
    expect(await send(url)).toMatchObject({ status: 401 });
    daemon.clock.nowMs -= 3_600_000;
    daemon.clock.monotonicMs += 15_000;
    expect(await send(url)).toMatchObject({ status: 429, headers: { 'retry-after': '45' } });
  });
});

test('counts the addresses of one IPv6 /64 together, and an IPv4 address however it is written', () => {
  const group = toClientAddress('2001:db8:0:7::1');
  expect(toClientAddress('2001:0DB8::7:ffff:ffff:ffff:ffff')).toBe(group);
  expect(toClientAddress('2001:db8:0:8::1')).not.toBe(group);
  expect(toClientAddress('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(toClientAddress('::ffff:c000:201')).toBe('192.0.2.1');
});

test('answers 429 to the 61st delivery of a minute, logs no row for it, and still accepts those of other webhooks', async () => {
  const [webhook, other] = [await daemon.webhook(), await daemon.webhook()];
  for (let n = 0; n < 60; n++) expect(await webhook.post(String(n))).toMatchObject({ status: 202 });
  const spent = await webhook.post('60');
  expect(spent.status).toBe(429);
  expect(JSON.parse(spent.body).detail).toMatch(
    /^Rate limit reached: 60 deliveries per minute\. Retry after \d+ s\.$/,
  );
  expect(spent.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect(await other.post('0')).toMatchObject({ status: 202 });
  expect(await webhook.rows()).toHaveLength(60);
});

test('counts deliveries and failed attempts apart', async () => {
  const settings = { limits: { deliveriesPerMinute: 2, failedAuthPerMinute: 2 } };
  const daemon = await startWebhookDaemon({ settings });
  const statusesOf = async (sends: object[]) => {
    const webhook = await daemon.webhook();
    const statuses = [];
    for (const sent of sends) statuses.push((await webhook.post('1', sent)).status);
    return statuses;
  };
  expect(await statusesOf([wrong, {}, wrong, wrong])).toEqual([401, 202, 401, 429]);
  expect(await statusesOf([{}, {}, {}, wrong, {}])).toEqual([202, 202, 429, 401, 429]);
});

test('answers 429 to the 31st failed attempt of an address, unverified, while another gets through', async () => {
  const webhook = await daemon.webhook();
  for (let n = 0; n < 30; n++) expect(await webhook.post('1', wrong)).toMatchObject({ status: 401 });
  const spent = await webhook.post('1', wrong);
  expect(spent.status).toBe(429);
  expect(spent.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect(await webhook.post('1')).toMatchObject({ status: 429 });
  expect(await webhook.post('1', { localAddress: '127.0.0.2' })).toMatchObject({ status: 202 });
  expect(await webhook.rowsOnce(31)).toHaveLength(31);
});

const signed = { authMode: 'signature', signatureScheme: 'github' };
const sign = (secret: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

test('does not count a body that is too large to verify as a failed attempt, and bounds how many are logged', async () => {
  const limits = { failedAuthPerMinute: 2, failedAuthPerMinuteTotal: 3, bodyBytes: 10 };
  const daemon = await startWebhookDaemon({ settings: { limits } });
  const webhook = await daemon.webhook(signed);
  const statuses = [];
  for (let n = 0; n < 7; n++) statuses.push((await webhook.post('"0123456789"')).status);
  statuses.push(
    (await webhook.post('1', { headers: { 'x-hub-signature-256': sign(webhook.secret, '1') } })).status,
  );
  expect(statuses).toEqual([...Array(7).fill(413), 202]);
  const outcomes = (await webhook.rowsOnce(5)).map(({ outcome }) => outcome);
  expect(outcomes.sort()).toEqual(['Accepted', ...Array(4).fill('Rejected (too large)')]);
});

test('verifies no more guesses than an address has, however many are in flight together', async () => {
  const daemon = await startWebhookDaemon({ settings: { limits: { failedAuthPerMinute: 5 } } });
  const webhook = await daemon.webhook({ ...signed, secret: 'guess-39' });
  const connections = await Promise.all(Array.from({ length: 40 }, () => connectTo(webhook.url)));
  for (const [n, connection] of connections.entries()) {
    const signature = `X-Hub-Signature-256: ${sign(`guess-${n}`, '{}')}`;
    connection.write(head(webhook.url, [signature, 'Content-Length: 2']));
    connection.write('{');
  }
  // The daemon has read all heads once it has read what came after them.
  await webhook.post('1', { localAddress: '127.0.0.2' });
  const statuses: string[] = [];
  for (const connection of connections) {
    connection.write('}');
    statuses.push((await connection.receives(/HTTP\/1\.1 \d+ /)).slice(9, 12));
  }
  expect(statuses).toEqual([...Array(5).fill('401'), ...Array(35).fill('429')]);
});

test('counts a body that breaks off before its sender is verified as a failed attempt', async () => {
  const daemon = await startWebhookDaemon({ settings: { limits: { failedAuthPerMinute: 2 } } });
  const webhook = await daemon.webhook(signed);
  for (let n = 1; n <= 2; n++) {
    const connection = await connectTo(webhook.url);
    connection.write(head(webhook.url, ['Content-Length: 100']));
    connection.write('{}');
    connection.socket.end();
    await connection.closed;
    await webhook.rowsOnce(n);
  }
  expect(await webhook.post('1')).toMatchObject({ status: 429 });
  expect(await webhook.rowsOnce(2)).toMatchObject(
    Array(2).fill({ outcome: 'Rejected (auth)', reason: 'the body ended before it was complete' }),
  );
});

test('past the total of failures refuses each address as before, and logs a sample with the count of the others', async () => {
  const limits = { failedAuthPerMinute: 3, failedAuthPerMinuteTotal: 4 };
  const daemon = await startWebhookDaemon({ settings: { limits } });
  const webhook = await daemon.webhook();
  const statuses: number[][] = [];
  for (let n = 1; n <= 4; n++) {
    const localAddress = `127.0.0.${n}`;
    const valid = await webhook.post(String(n), { localAddress });
    const ofAddress = [valid.status];
    for (let guess = 0; guess < 4; guess++) {
      ofAddress.push((await webhook.post('1', { ...wrong, localAddress })).status);
    }
    statuses.push(ofAddress);
  }
  expect(statuses).toEqual(Array(4).fill([202, 401, 401, 401, 429]));
  expect(await webhook.post('valid', { localAddress: '127.0.0.5' })).toMatchObject({ status: 400 });
  const reasons = (await webhook.rowsOnce(10)).map(({ reason }) => reason).filter(Boolean);
  const sampled = 'wrong token; 3 unverified requests before this one were not logged';
  const notJson = 'the body is not JSON: a value is expected at line 1, column 1';
  expect(reasons.sort()).toEqual([notJson, ...Array(4).fill('wrong token'), sampled]);
});
