import { expect, test } from 'vitest';
import { startManagedDaemon, useManagedDaemon, withNewFactory } from '../../../../support/management.ts';

const shared = useManagedDaemon({ trustProxies: ['loopback'] });

test('records who changed what, when and from where, and only that', async () => {
  const daemon = withNewFactory(shared());
  const client = await daemon.client();
  const from = { 'x-forwarded-for': '192.0.2.7' };
  const created = await client.call('createWebhook', { body: { name: 'hook' }, headers: from });
  const { uid } = created.json.webhook;
  const one = { params: { uid }, headers: from };
  await client.call('changeWebhook', { ...one, body: { enabled: false } });
  await client.call('changeWebhook', { ...one, body: { name: 'other' } });
  await client.call('changeWebhookSecret', one);
  await client.call('deleteWebhook', one);
  // Neither a refused change nor a question is a change.
  expect((await client.call('deleteWebhook', one)).status).toBe(404);
  await client.call('plan', { body: { files: [] } });
  const { json, text } = await client.call('listAudit');
  const at = new Date(daemon.clock.nowMs).toISOString();
  const who = { kind: 'token', name: client.tokenName };
  const entry = { at, who, from: '192.0.2.7', factory: daemon.factory };
  expect(json).toEqual({
    entries: [
      { ...entry, operation: 'deleteWebhook', subject: `other (${uid})` },
      { ...entry, operation: 'changeWebhookSecret', subject: `other (${uid})` },
      { ...entry, operation: 'changeWebhook', subject: `other (${uid}): renamed` },
      { ...entry, operation: 'changeWebhook', subject: `hook (${uid}): disabled` },
      { ...entry, operation: 'createWebhook', subject: 'hook' },
    ],
    next: null,
  });
  expect(text).not.toContain(created.json.revealed.secret);
});

test('writes nothing to the audit log for requests that are refused, whoever sends them', async () => {
  const daemon = await startManagedDaemon();
  const client = await daemon.client();
  const { auditLog } = daemon.store;
  const at = new Date(daemon.clock.nowMs).toISOString();
  const who = { kind: 'user' as const, name: 'ada' };
  const record = (subject: string) =>
    auditLog.record([{ at, who, from: 'laptop', operation: 'setSecret', factory: 'default', subject }]);
  await record('before');
  const refused = [
    await client.call('changeWebhook', { params: { uid: 'unknown' }, body: { enabled: false } }),
    await client.call('changeWebhook', { params: { uid: 'unknown' }, body: { enabled: 7 } }),
    await client.call('deleteAutomation', { params: { automation: 'unknown' } }),
    await client.call('retryRun', { params: { run: 'unknown' } }),
    await client.call('replayDelivery', { params: { delivery: 'unknown' } }),
    await client.call('apply', { body: { files: [{ path: 'webhooks/a.yaml', content: '' }], origin: '/' } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 422, 404, 404, 404, 422]);
  await record('after');
  // A refused request that wrote something would have taken the place between them.
  expect((await auditLog.list({ limit: 9 })).map(({ seq, subject }) => [seq, subject])).toEqual([
    [2, 'after'],
    [1, 'before'],
  ]);
});

test('records an apply that changed something, with its serial', async () => {
  const daemon = withNewFactory(shared());
  const client = await daemon.client();
  await daemon.store.teamSecrets.set('A', 'a secret of thirty-two bytes 123', daemon.factory);
  const files = [{ path: 'webhooks/a.yaml', content: 'authMode: token\nsecretName: A\n' }];
  const body = { files, origin: '/repo', impact: false };
  expect((await client.call('apply', { body })).json.result).toBe('applied');
  expect((await client.call('apply', { body })).json.result).toBe('unchanged');
  const { entries } = (await client.call('listAudit')).json;
  expect(entries).toMatchObject([
    { operation: 'apply', subject: 'serial 1: 1 added, 0 changed, 0 destroyed' },
  ]);
});

test('lists page by page, and changes of all factories only to those who may manage all', async () => {
  const daemon = await startManagedDaemon();
  const { auditLog } = daemon.store;
  const entry = {
    at: '2026-01-02T03:04:05.678Z',
    who: { kind: 'user' as const, name: 'ada' },
    from: 'laptop',
    operation: 'setSecret',
  };
  const factories = ['default', 'other', null, 'default'];
  await auditLog.record(factories.map((factory, index) => ({ ...entry, factory, subject: `${index}` })));
  const [one, all] = [await daemon.client(), await daemon.client({ factory: null })];
  const subjects = async (client: typeof one, query = {}) => {
    const { json } = await client.call('listAudit', { query });
    return { next: json.next, subjects: json.entries.map((entry: { subject: string }) => entry.subject) };
  };
  expect(await subjects(one)).toEqual({ next: null, subjects: ['3', '0'] });
  expect(await subjects(all)).toEqual({ next: null, subjects: ['3', '2', '0'] });
  const first = await subjects(all, { limit: '2' });
  expect(first.subjects).toEqual(['3', '2']);
  expect(await subjects(all, { limit: '2', cursor: first.next })).toEqual({ next: null, subjects: ['0'] });
});

test('lists the API tokens of a factory to those who manage it, never the tokens', async () => {
  const daemon = withNewFactory(shared());
  const { factory } = daemon;
  const expiresAt = new Date(daemon.clock.nowMs + 60_000).toISOString();
  const client = await daemon.client({ expiresAt });
  const all = await daemon.client({ factory: null, permission: 'read' });
  await daemon.client({ factory: 'other' });
  const { json, text } = await client.call('listTokens');
  expect(json.tokens).toMatchObject([
    { name: client.tokenName, factory, permission: 'manage', expiresAt },
    { name: all.tokenName, factory: null, permission: 'read', expiresAt: null },
  ]);
  expect(text).not.toMatch(/sha256|hmk_/);
});
