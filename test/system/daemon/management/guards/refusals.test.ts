import { expect, test } from 'vitest';
import { read, send } from '../../../../support/http.ts';
import { call, startManagedDaemon } from '../../../../support/management.ts';
import { makeWorkspace } from '../../../../support/workspace.ts';

const from = (address: string) => ({ 'x-forwarded-for': address });
const proxied = { trustProxies: ['loopback'] };

test('bounds the requests a minute of all callers of a factory together, and not those of another factory', async () => {
  const daemon = await startManagedDaemon({ limits: { apiRequestsPerMinute: 1 } });
  const many = await Promise.all(Array.from({ length: 11 }, () => daemon.client()));
  const statuses = [];
  for (const client of many) statuses.push((await client.call('showStatus')).status);
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
  const [other, operator] = [
    await daemon.client({ factory: 'other' }),
    await daemon.client({ factory: null }),
  ];
  expect((await other.call('showStatus')).status).toBe(200);
  expect((await operator.call('showStatus')).status).toBe(200);
});

test('answers each token and each address only so many requests a minute, and says when to come back', async () => {
  const daemon = await startManagedDaemon({ ...proxied, limits: { apiRequestsPerMinute: 4 } });
  const [busy, other] = [await daemon.client(), await daemon.client()];
  const ask = async (times: number, one: () => ReturnType<typeof call>) => {
    const statuses = [];
    for (let time = 0; time < times; time++) statuses.push((await one()).status);
    return statuses;
  };
  const stranger = (address: string) => () =>
    call(daemon.managementUrl, 'showStatus', { headers: from(address) });
  expect(await ask(5, () => busy.call('showStatus', { headers: from('192.0.2.1') }))).toEqual([
    ...Array(4).fill(200),
    429,
  ]);
  expect(await ask(5, stranger('192.0.2.2'))).toEqual([...Array(4).fill(401), 429]);
  // Neither those who are counted by their token, nor other addresses have to wait for them.
  expect(await ask(1, () => other.call('showStatus', { headers: from('192.0.2.2') }))).toEqual([200]);
  expect(await ask(1, stranger('192.0.2.3'))).toEqual([401]);
  // Whoever tries tokens where nothing else needs one.
  const wrong = { authorization: 'Bearer hmk_a-token-that-nobody-has', ...from('192.0.2.4') };
  const watch = async (path: string) =>
    (await send(`${daemon.managementUrl}${path}`, { method: 'GET', headers: wrong })).status;
  expect([await watch('/readyz'), await watch('/metrics')]).toEqual([401, 401]);
  expect([await watch('/readyz'), await watch('/metrics')]).toEqual([401, 401]);
  expect([await watch('/readyz'), await watch('/metrics')]).toEqual([429, 429]);
  daemon.clock.monotonicMs += 18_000;
  const refused = await busy.call('showStatus');
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '42' } });
  expect(refused.json).toMatchObject({
    code: 'too-many-requests',
    detail: '4 requests per minute; retry after 42 s',
  });
  daemon.clock.monotonicMs += 42_000;
  expect((await busy.call('showStatus')).status).toBe(200);
});

test('a command waits as long as the server asks for, and goes on', async () => {
  const daemon = await startManagedDaemon({ limits: { apiRequestsPerMinute: 8 } });
  const client = await daemon.client();
  for (let time = 0; time < 8; time++) await client.call('showStatus');
  daemon.clock.monotonicMs += 59_500;
  const env = { HOOKMILL_SERVER: daemon.managementUrl, HOOKMILL_TOKEN: client.token };
  const listed = makeWorkspace().hookmill('webhooks', 'list', '-o', 'json', { env });
  await expect.poll(() => daemon.logged()).toContain('"code":"too-many-requests"');
  daemon.clock.monotonicMs += 500;
  expect(await listed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('[]') });
});

test('logs what a known caller is refused, whatever noise its address and the caller itself make before', async () => {
  const daemon = await startManagedDaemon(proxied);
  const reader = await daemon.client({ permission: 'read' });
  const headers = from('192.0.2.9');
  for (let time = 0; time < 12; time++) {
    const body = { token: 'hmk_a-token-that-nobody-has' };
    await call(daemon.managementUrl, 'signIn', { body, headers });
    await reader.call('createWebhook', { body: { name: 'a' }, headers });
  }
  const params = { uid: `wh_${'0'.repeat(24)}` };
  expect((await reader.call('deleteWebhook', { params, headers })).status).toBe(403);
  expect(daemon.logged()).toMatch(new RegExp(`"operation":"deleteWebhook".*"token":"${reader.tokenName}"`));
});

test('logs a sample of who is refused, from where and at what, never with a token, and counts all', async () => {
  const daemon = await startManagedDaemon(proxied);
  const reader = await daemon.client({ permission: 'read' });
  const wrong = 'hmk_a-token-that-nobody-has';
  const refused = [
    await reader.call('createWebhook', { body: { name: 'a' }, headers: from('192.0.2.1') }),
    await call(daemon.managementUrl, 'listRuns', {
      headers: { authorization: `Bearer ${wrong}`, ...from('192.0.2.2') },
    }),
    await call(daemon.managementUrl, 'signIn', { body: { token: wrong }, headers: from('192.0.2.3') }),
    await reader.call('showStatus', { headers: { host: 'rebound.example', ...from('192.0.2.4') } }),
    await send(`${daemon.managementUrl}/metrics`, { method: 'GET', headers: from('192.0.2.4') }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 401, 401, 403, 403]);
  for (let time = 0; time < 20; time++) {
    await call(daemon.managementUrl, 'signIn', { body: { token: wrong }, headers: from('192.0.2.5') });
  }
  const lines = daemon
    .logged()
    .split('\n')
    .filter(line => line.includes('a management request was refused'))
    .map(line => JSON.parse(line));
  const factory = 'default';
  expect(lines.slice(0, 5)).toMatchObject([
    { level: 40, code: 'not-permitted', operation: 'createWebhook', factory, token: reader.tokenName },
    { level: 40, code: 'token-unknown', operation: 'listRuns', factory, from: '192.0.2.2' },
    { level: 40, code: 'token-unknown', operation: 'signIn', from: '192.0.2.3' },
    { level: 40, code: 'host-refused', from: '192.0.2.4' },
    { level: 40, code: 'metrics-refused', from: '192.0.2.4' },
  ]);
  expect(lines.slice(5).map(line => line.from)).toEqual(Array(10).fill('192.0.2.5'));
  for (const token of [wrong, reader.token]) expect(daemon.logged()).not.toContain(token);
  const metrics = await read(`${daemon.managementUrl}/metrics`);
  const counted = (result: string) =>
    metrics.match(`management_requests_total{result="${result}"} (\\d+)`)?.[1];
  expect(['not-permitted', 'token-unknown', 'too-many-attempts', 'cross-site'].map(counted)).toEqual([
    ...['1', '12', '10', '0'],
  ]);
});
