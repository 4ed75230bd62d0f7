import { afterAll, beforeAll, expect, test } from 'vitest';
import { nameActor } from '../../../../../operations/access/audit.ts';
import { eventually } from '../../../../support/eventually.ts';
import { type ManagedDaemon, openManagedDaemon } from '../../../../support/management.ts';
import { startTokenIssuer, type TokenIssuer } from '../../../../support/token-issuer.ts';

const audience = 'https://hooks.example.com';

interface Started {
  readonly issuer: TokenIssuer;
  readonly daemon: ManagedDaemon;
}

/** Starts a daemon that knows the callers of an issuer, for some tests of the file. */
function useCallers(management: readonly object[]): () => Started {
  let started: Started;
  beforeAll(async () => {
    const issuer = await startTokenIssuer();
    const entries = management.map(entry => ({ issuer: issuer.issuer, audience, ...entry }));
    const oidc = { issuers: [{ issuer: issuer.issuer }], management: entries };
    const daemon = await openManagedDaemon({ oidc });
    started = { issuer, daemon };
    await eventually(async () => {
      const { status } = await ask(daemon, await issuer.sign({ aud: audience }), '/api/v1/session');
      return status !== 503;
    });
  });
  afterAll(() => started.daemon.stop());
  return () => started;
}

const byClaims = useCallers([
  { claims: { repository: ['acme/shop'] }, permission: 'read', factory: 'shop' },
  { claims: { repository: ['acme/shop'], ref: ['refs/heads/main'] }, permission: 'manage', factory: 'shop' },
  { claims: { repository: ['acme/infra'] }, permission: 'read' },
]);
const managing = useCallers([{ claims: { repository: ['acme/shop'] }, permission: 'manage' }]);

async function ask(daemon: ManagedDaemon, token: string, path: string, init: RequestInit = {}) {
  daemon.clock.nowMs = Date.now();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
  const response = await fetch(`${daemon.managementUrl}${path}`, { ...init, headers });
  const text = await response.text();
  return { status: response.status, text, json: text === '' ? undefined : JSON.parse(text) };
}

test('lets a job of a CI host read or manage the factories that the settings allow to its claims', async () => {
  const { issuer, daemon } = byClaims();
  const grants = async (claims: object) => {
    const { json } = await ask(daemon, await issuer.sign({ aud: audience, ...claims }), '/api/v1/session');
    return json;
  };
  const read = { factory: 'shop', permission: 'read' };
  expect(await grants({ ref: 'refs/pull/7/merge' })).toEqual({
    ...{ kind: 'workload', name: issuer.issuer },
    grants: [read],
  });
  const onMain = await grants({ ref: 'refs/heads/main' });
  expect(onMain.grants).toEqual([read, { factory: 'shop', permission: 'manage' }]);
  expect((await grants({ repository: 'acme/infra' })).grants).toEqual([
    { factory: null, permission: 'read' },
  ]);
  const token = await issuer.sign({ aud: audience });
  expect(await ask(daemon, token, '/api/v1/factories/shop/webhooks')).toMatchObject({ status: 200 });
  const other = await ask(daemon, token, '/api/v1/factories/other/webhooks');
  expect(other.json).toMatchObject({
    code: 'not-permitted',
    detail: `repo:acme/shop of ${issuer.issuer} may not read the factory other`,
  });
});

test('names the issuer and the subject of a job in the audit log, and never its token', async () => {
  const { issuer, daemon } = managing();
  const token = await issuer.sign({ aud: audience });
  const body = JSON.stringify({ name: 'deploys' });
  const made = await ask(daemon, token, '/api/v1/factories/default/webhooks', { method: 'POST', body });
  expect(made.status).toBe(201);
  const { json } = await ask(daemon, token, '/api/v1/factories/default/audit');
  const who = { kind: 'workload', name: nameActor({ name: issuer.issuer, subject: 'repo:acme/shop' }) };
  expect(json.entries[0]).toMatchObject({ operation: 'createWebhook', who });
  expect(daemon.logged()).not.toContain(token);
});

test.each([
  ['another repository', { repository: 'acme/other' }, /no entry of oidc\.management allows its claims/],
  ['another audience', { aud: 'https://other.example.com' }, /audience is https:\/\/other\.example\.com/],
  ['no subject', { sub: undefined }, /no subject/],
  ['an expired one', { exp: 1_000 }, /expired/],
  ['another issuer', { iss: 'https://other.example.com' }, /not a token of an issuer in oidc\.management/],
])('refuses a token: %s', async (_, claims, reason) => {
  const { issuer, daemon } = managing();
  const token = await issuer.sign({ aud: audience, ...claims });
  const { status, json } = await ask(daemon, token, '/api/v1/session');
  expect(status).toBe(401);
  expect(json).toMatchObject({ code: 'token-unknown', detail: expect.stringMatching(reason) });
});

test('starts no session of the dashboard with such a token', async () => {
  const { issuer, daemon } = managing();
  const body = JSON.stringify({ token: await issuer.sign({ aud: audience }) });
  const { status } = await ask(daemon, '', '/api/v1/session', {
    method: 'POST',
    body,
    headers: { authorization: '' },
  });
  // It is longer than any API token.
  expect(status).toBe(422);
});
