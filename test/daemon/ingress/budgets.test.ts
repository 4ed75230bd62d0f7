import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMemoryBudgets } from '../../../daemon/ingress/budgets.ts';
import { bearerOf, startDaemonForTest } from '../../support/daemon.ts';

const limits = { deliveriesPerMinute: 60, failedAuthPerMinute: 30, failedAuthPerMinuteTotal: 300 };
const uid = 'wh_0123456789abcdefghijklmn';
const wrong = { headers: bearerOf('wrong') };

describe('Retry-After', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('of the 61st delivery of a minute is true to the second', async () => {
    const budgets = createMemoryBudgets(limits);
    for (let n = 0; n < 60; n++) {
      expect(await budgets.countDelivery(uid)).toBeUndefined();
      vi.advanceTimersByTime(200);
    }
    expect(await budgets.countDelivery(uid)).toEqual({ retryAfterSeconds: 48 });
    vi.advanceTimersByTime(47_000);
    expect(await budgets.countDelivery(uid)).toEqual({ retryAfterSeconds: 1 });
    vi.advanceTimersByTime(1_000);
    expect(await budgets.countDelivery(uid)).toBeUndefined();
  });

  test('of the 31st failed attempt of an address is true to the second', async () => {
    const budgets = createMemoryBudgets(limits);
    for (let n = 0; n < 30; n++) {
      expect(await budgets.checkGuessing(uid, '192.0.2.1')).toBeUndefined();
      expect(await budgets.countFailure(uid, '192.0.2.1')).toBeUndefined();
    }
    vi.advanceTimersByTime(15_000);
    expect(await budgets.checkGuessing(uid, '192.0.2.1')).toEqual({ retryAfterSeconds: 45 });
    expect(await budgets.checkGuessing(uid, '192.0.2.2')).toBeUndefined();
    vi.advanceTimersByTime(44_000);
    expect(await budgets.checkGuessing(uid, '192.0.2.1')).toEqual({ retryAfterSeconds: 1 });
    vi.advanceTimersByTime(1_000);
    expect(await budgets.checkGuessing(uid, '192.0.2.1')).toBeUndefined();
  });
});

test('answers 429 to the 61st delivery of a minute, logs no row for it, and still accepts those of other webhooks', async () => {
  const daemon = await startDaemonForTest();
  const [webhook, other] = [await daemon.webhook(), await daemon.webhook()];
  for (let n = 0; n < 60; n++) expect(await webhook.post(String(n))).toMatchObject({ status: 202 });
  const spent = await webhook.post('60');
  expect(spent.status).toBe(429);
  expect(JSON.parse(spent.body).detail).toMatch(
    /^Rate limit reached: 60 deliveries per minute\. Retry after \d+ s\.$/,
  );
  expect(spent.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect(await other.post('0')).toMatchObject({ status: 202 });
  expect(webhook.rows()).toHaveLength(60);
});

test('counts deliveries and failed attempts apart', async () => {
  const settings = { limits: { deliveriesPerMinute: 2, failedAuthPerMinute: 2 } };
  const daemon = await startDaemonForTest({ settings });
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
  const daemon = await startDaemonForTest();
  const webhook = await daemon.webhook();
  for (let n = 0; n < 30; n++) expect(await webhook.post('1', wrong)).toMatchObject({ status: 401 });
  const spent = await webhook.post('1', wrong);
  expect(spent.status).toBe(429);
  expect(spent.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
  expect(await webhook.post('1')).toMatchObject({ status: 429 });
  expect(await webhook.post('1', { localAddress: '127.0.0.2' })).toMatchObject({ status: 202 });
  expect(await webhook.rowsOnce(31)).toHaveLength(31);
});

test('counts a body that is too large to verify as a failed attempt', async () => {
  const settings = { limits: { failedAuthPerMinute: 2, bodyBytes: 10 } };
  const daemon = await startDaemonForTest({ settings });
  const webhook = await daemon.webhook({ authMode: 'signature', signatureScheme: 'github' });
  const statuses = [];
  for (let n = 0; n < 3; n++) statuses.push((await webhook.post('"0123456789"')).status);
  expect(statuses).toEqual([413, 413, 429]);
  expect(await webhook.rowsOnce(2)).toMatchObject(Array(2).fill({ outcome: 'Rejected (too large)' }));
});

test('past the total of failures over all addresses logs no more of them, and accepts valid deliveries', async () => {
  const daemon = await startDaemonForTest({ settings: { limits: { failedAuthPerMinuteTotal: 3 } } });
  const webhook = await daemon.webhook();
  const statuses = [];
  for (let n = 1; n <= 5; n++) {
    const localAddress = `127.0.0.${n}`;
    statuses.push((await webhook.post('1', { ...wrong, localAddress })).status);
    statuses.push((await webhook.post(String(n), { localAddress })).status);
  }
  expect(statuses).toEqual([401, 202, 401, 202, 401, 202, 429, 202, 429, 202]);
  const outcomes = (await webhook.rowsOnce(8)).map(({ outcome }) => outcome);
  expect(outcomes.filter(outcome => outcome === 'Rejected (auth)')).toHaveLength(3);
  await expect.poll(() => daemon.metrics()).toContain('result="too-many-failures"} 2');
});
