import { expect, test } from 'vitest';
import { send } from '../support/http.ts';
import { type ManagedDaemon, startManagedDaemon } from '../support/management.ts';

const post = (url: string, token?: string) =>
  send(url, {
    body: JSON.stringify({ at: Math.random() }),
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });

async function withWebhook(body: object = { name: 'deploys' }, daemon?: ManagedDaemon) {
  const running = daemon ?? (await startManagedDaemon());
  const manager = await running.client();
  const created = await manager.call('createWebhook', { body });
  expect(created.json).toMatchObject({ webhook: { name: 'deploys' } });
  const { webhook, revealed } = created.json;
  return { daemon: running, manager, webhook, revealed, params: { uid: webhook.uid } };
}

test('creates a webhook whose secret is generated, shown once, and accepted at once', async () => {
  const { daemon, manager, webhook, revealed, params } = await withWebhook();
  expect(webhook).toMatchObject({
    authMode: 'token',
    secretName: 'DEPLOYS_SECRET',
    credential: 'set',
    file: null,
  });
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 202 });
  for (const answer of [
    await manager.call('showWebhook', { params }),
    await manager.call('listWebhooks'),
    await manager.call('listSecrets'),
    await manager.call('showStatus'),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(revealed.secret);
  }
  expect(daemon.logged()).not.toContain(revealed.secret);
});

test('shows the URL of a url_token webhook with its token once, and with a placeholder afterwards', async () => {
  const { manager, webhook, revealed, params } = await withWebhook({
    name: 'deploys',
    authMode: 'url_token',
  });
  expect(webhook.url).toBe(revealed.url.replace(/[^/]+$/, '{token}'));
  expect(revealed.secret).toBeUndefined();
  expect(await post(revealed.url)).toMatchObject({ status: 202 });
  const shown = await manager.call('showWebhook', { params });
  expect(shown.json.url).toBe(webhook.url);
});

test('rotates: the old secret is refused and the new one accepted on the very next request', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  const rotated = await manager.call('changeWebhookSecret', { params });
  expect(rotated.status).toBe(200);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 401 });
  expect(await post(webhook.url, rotated.json.revealed.secret)).toMatchObject({ status: 202 });
});

test('toggles: 404 while disabled, 202 once enabled, and the history stays', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  const toggle = (enabled: boolean) => manager.call('changeWebhook', { params, body: { enabled } });
  await post(webhook.url, revealed.secret);
  expect((await toggle(false)).json.enabled).toBe(false);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 404 });
  await toggle(true);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 202 });
  const { json } = await manager.call('listDeliveries', { query: { webhook: webhook.uid } });
  expect(json.deliveries).toHaveLength(2);
});

test('deletes: 404 at once; its automation stays, marked, and fires no more', async () => {
  const { manager, webhook, revealed, params } = await withWebhook();
  const triggers = [{ provider: 'webhook', event: 'received', filter: { webhook_ids: [webhook.uid] } }];
  const body = { name: 'triage', prompt: 'Look.', triggers };
  expect((await manager.call('createAutomation', { body })).json.triggers).toEqual([
    { uid: webhook.uid, webhook: 'deploys' },
  ]);
  await post(webhook.url, revealed.secret);
  expect((await manager.call('listRuns')).json.runs).toHaveLength(1);
  expect((await manager.call('deleteWebhook', { params })).status).toBe(204);
  expect(await post(webhook.url, revealed.secret)).toMatchObject({ status: 404 });
  const { json } = await manager.call('listAutomations');
  expect(json.automations[0].triggers).toEqual([{ uid: webhook.uid, webhook: null }]);
  const again = await manager.call('createWebhook', { body: { name: 'deploys' } });
  expect(again.json.webhook.uid).not.toBe(webhook.uid);
  expect((await manager.call('listRuns')).json.runs).toHaveLength(1);
});
