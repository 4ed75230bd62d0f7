import { expect, test } from 'vitest';
import {
  call,
  signIn,
  startManagedDaemon,
  useManagedDaemon,
  withNewFactory,
} from '../../../../support/management.ts';

const shared = useManagedDaemon();

test('creates a token that is shown once and works at once, and revokes it', async () => {
  const daemon = withNewFactory(shared());
  const { factory } = daemon;
  const manager = await daemon.client();
  const body = { name: 'ci', permission: 'read', expiresInSeconds: 3_600 };
  const created = await manager.call('createToken', { body });
  const expiresAt = new Date(daemon.clock.nowMs + 3_600_000).toISOString();
  const { token } = created.json;
  expect(created.status).toBe(201);
  expect(created.json).toEqual({ name: 'ci', factory, permission: 'read', expiresAt, token });
  const asCreated = async (id: 'showStatus' | 'createWebhook') =>
    (
      await call(daemon.managementUrl, id, {
        params: { factory },
        headers: { authorization: `Bearer ${token}` },
      })
    ).status;
  expect([await asCreated('showStatus'), await asCreated('createWebhook')]).toEqual([200, 403]);

  const again = await manager.call('createToken', { body });
  expect(again).toMatchObject({ status: 409, json: { code: 'api-token-taken' } });
  const revoke = () => manager.call('revokeToken', { params: { token: 'ci' } });
  expect((await revoke()).status).toBe(204);
  expect(await asCreated('showStatus')).toBe(401);
  expect(await revoke()).toMatchObject({ status: 404, json: { code: 'api-token-unknown' } });

  const listed = await manager.call('listTokens');
  const audit = await manager.call('listAudit');
  expect(audit.json.entries).toMatchObject([
    { operation: 'revokeToken', factory, subject: 'ci', who: { name: manager.tokenName } },
    { operation: 'createToken', factory, subject: 'ci (read)' },
  ]);
  expect(listed.text + audit.text).not.toContain(token);
});

test('gives nobody more factories than they have, over a token or its session', async () => {
  const daemon = await startManagedDaemon();
  const [manager, admin, stranger] = [
    await daemon.client(),
    await daemon.client({ factory: null }),
    await daemon.client({ factory: 'other' }),
  ];
  const forAll = { name: 'all', permission: 'read', allFactories: true };
  const sessionOf = await signIn(daemon, manager);
  const attempts = [
    await manager.call('createToken', { body: forAll }),
    await call(daemon.managementUrl, 'createToken', { body: forAll, headers: sessionOf }),
    await manager.call('revokeToken', { params: { token: admin.tokenName } }),
    await call(daemon.managementUrl, 'revokeToken', {
      params: { token: admin.tokenName },
      headers: sessionOf,
    }),
  ];
  for (const { status, json } of attempts) expect([status, json.code]).toEqual([403, 'token-not-permitted']);
  // Whoever manages one factory learns nothing about the tokens of another.
  for (const token of [stranger.tokenName, 'unknown']) {
    const { status, json } = await manager.call('revokeToken', { params: { token } });
    expect([status, json.code, json.detail]).toEqual([
      404,
      'api-token-unknown',
      `there is no API token ${token}`,
    ]);
  }
  expect((await daemon.store.apiTokens.list()).map(({ name }) => name)).toEqual(
    [manager, admin, stranger].map(({ tokenName }) => tokenName),
  );

  expect((await admin.call('createToken', { body: forAll })).json).toMatchObject({ factory: null });
  expect((await admin.call('revokeToken', { params: { token: stranger.tokenName } })).status).toBe(204);
  // Only who may manage all factories sees changes of all of them.
  const created = { operation: 'createToken', factory: null, subject: 'all (read)' };
  const revoked = { operation: 'revokeToken', factory: 'other', subject: stranger.tokenName };
  expect(await daemon.store.auditLog.list({ limit: 9 })).toMatchObject([revoked, created]);
  expect((await manager.call('listAudit')).json.entries).toEqual([]);
  expect((await admin.call('listAudit')).json.entries).toMatchObject([created]);
});

test('gives each factory names of its own, and revokes the token of the factory that asks', async () => {
  const [one, other] = [withNewFactory(shared()), withNewFactory(shared())];
  const [manager, stranger] = [await one.client(), await other.client()];
  const body = { name: 'ci', permission: 'read' };
  for (const client of [manager, stranger])
    expect((await client.call('createToken', { body })).status).toBe(201);
  const listed = async (client: typeof manager) =>
    (await client.call('listTokens')).json.tokens.map(({ name }: { name: string }) => name);
  expect((await stranger.call('revokeToken', { params: { token: 'ci' } })).status).toBe(204);
  expect([await listed(manager), await listed(stranger)]).toEqual([
    expect.arrayContaining(['ci']),
    expect.not.arrayContaining(['ci']),
  ]);
});

test('gives nobody a token that outlives their own', async () => {
  const daemon = withNewFactory(shared());
  const params = { factory: daemon.factory };
  const expiresAt = new Date(daemon.clock.nowMs + 3_600_000).toISOString();
  const shortLived = await daemon.client({ expiresAt });
  const headers = await signIn(daemon, shortLived);
  for (const body of [
    { name: 'later', permission: 'read' },
    { name: 'later', permission: 'read', expiresInSeconds: 3_601 },
  ]) {
    const answers = [
      await shortLived.call('createToken', { body }),
      await call(daemon.managementUrl, 'createToken', { params, body, headers }),
    ];
    for (const { status, json } of answers) {
      expect([status, json.code]).toEqual([403, 'token-not-permitted']);
      expect(json.detail).toContain(expiresAt);
    }
  }
  const body = { name: 'in-time', permission: 'manage', expiresInSeconds: 3_600 };
  expect((await shortLived.call('createToken', { body })).json).toMatchObject({ expiresAt });
});

test('refuses names and times that no token can have, and records nothing of that', async () => {
  const manager = await withNewFactory(shared()).client();
  for (const body of [
    { name: '../ci', permission: 'read' },
    { name: 'a'.repeat(64), permission: 'read' },
    { name: 'ci', permission: 'all' },
    { name: 'ci', permission: 'read', expiresInSeconds: 0 },
    { name: 'ci', permission: 'read', expiresInSeconds: 1e12 },
    { name: 'ci', permission: 'read', factory: 'other' },
  ]) {
    expect(await manager.call('createToken', { body })).toMatchObject({ status: 422 });
  }
  expect((await manager.call('listAudit')).json.entries).toEqual([]);
});
