import { expect, test } from 'vitest';
import { areHomesInPostgres } from '../../../../support/home-place.ts';
import { call, startManagedDaemon } from '../../../../support/management.ts';

const isShared = areHomesInPostgres();

test('shows what the daemon is by its settings, and to each caller only the runners of their factories', async () => {
  const argv = ['/opt/secret-path/agent', '--token-file', '/etc/agent-token'];
  const agent = { kind: 'command', argv, timeLimitSeconds: 60 };
  const daemon = await startManagedDaemon({
    baseUrl: 'https://hooks.example.com',
    managementUrl: 'https://hooks.internal',
    limits: { bodyBytes: 1_000, deliveriesPerMinute: 7, apiRequestsPerMinute: 900, requestSeconds: 5 },
    retention: { deliveries: 60, days: 9 },
    runs: {
      concurrency: 3,
      runners: {
        shop: { ...agent, factories: ['shop-*'], concurrency: 2 },
        other: { ...agent, factories: ['other'] },
      },
    },
  });
  const startedAt = new Date(daemon.clock.nowMs).toISOString();
  daemon.clock.nowMs += 60_000;
  const show = async (factory: string | null, permission: 'read' | 'manage') =>
    (await daemon.client({ factory, permission })).call('showDaemon');
  const { status, json } = await show(null, 'manage');
  expect(status).toBe(200);
  const main = { name: 'default', kind: 'directory', concurrency: 3 };
  const shop = { name: 'shop', kind: 'command', concurrency: 2 };
  expect(json).toEqual({
    version: '0.0.0-test',
    startedAt,
    store: isShared ? 'postgresql' : 'home',
    replicas: isShared ? 1 : null,
    ingressUrl: 'https://hooks.example.com',
    managementUrl: 'https://hooks.internal',
    runners: [main, shop, { ...shop, name: 'other', concurrency: expect.any(Number) }],
    limits: { bodyBytes: 1_000, deliveriesPerMinute: 7, apiRequestsPerMinute: 900, requestSeconds: 5 },
    retention: { deliveries: 60, days: 9 },
  });
  const ofShop = await show('shop-eu', 'read');
  expect(ofShop.json.runners).toEqual([main, shop]);
  for (const text of [ofShop.text, JSON.stringify(json)]) {
    expect(text).not.toMatch(/secret-path|agent-token/);
    expect(text).not.toContain(daemon.home.directory);
  }
  expect((await call(daemon.managementUrl, 'showDaemon')).status).toBe(401);
});
