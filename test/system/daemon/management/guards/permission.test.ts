import { expect, test } from 'vitest';
import type { ApiRoute } from '../../../../../schema/api/route.ts';
import { apiRoutes, type OperationId } from '../../../../../schema/api/routes.ts';
import { areHomesInPostgres } from '../../../../support/home-place.ts';
import { connectTo, send } from '../../../../support/http.ts';
import { call, signIn, startManagedDaemon, useManagedDaemon } from '../../../../support/management.ts';

/** For tests whose tokens and sessions are all that they look at. They only move its clock forward. */
const shared = useManagedDaemon();
const behindHttps = useManagedDaemon({
  managementUrl: 'https://hooks.internal',
  baseUrl: 'https://hooks.example.com',
  trustProxies: ['127.0.0.1'],
});
const named = useManagedDaemon({ managementUrl: 'http://hooks.internal:9000' });

const operations = Object.entries(apiRoutes) as [OperationId, ApiRoute][];
/** Never ends by itself; what it needs is tested with what it sends. */
const walked = operations.filter(([id]) => id !== 'watchDeliveries');

/** Whether the answer is that of a caller who was let in: whatever it is, it is no refusal. */
const isLetIn = (status: number) => status !== 401 && status !== 403;

test('lets each token do only what its permission and factory allow, on every route', async () => {
  const daemon = await startManagedDaemon();
  const callers = [
    { name: 'nobody', factory: undefined, permission: undefined },
    ...(['read', 'manage'] as const).flatMap(permission =>
      ['default', 'other', null].map(factory => ({ name: `${permission} ${factory}`, factory, permission })),
    ),
  ];
  for (const { name, factory, permission } of callers) {
    const client = permission && (await daemon.client({ factory: factory ?? null, permission }));
    for (const [id, route] of walked) {
      const params = { factory: 'default' };
      const answer = await (client
        ? client.call(id, { params })
        : call(daemon.managementUrl, id, { params }));
      const may = expected(route, permission, factory);
      expect({ id, name, letIn: isLetIn(answer.status) }).toEqual({ id, name, letIn: may });
    }
  }
});

/** The rule again, by the words of the issue rather than of the code. */
function expected(
  route: ApiRoute,
  permission: string | undefined,
  factory: string | null | undefined,
): boolean {
  if (route.permission === 'public') return true;
  if (permission === undefined) return false;
  if (!route.path.includes('{factory}')) return true;
  if (factory !== null && factory !== 'default') return false;
  return permission === 'manage' || route.permission === 'read';
}

test('names a permission for each route, and lets nobody change anything with less than manage', () => {
  for (const [id, { method, permission, path }] of operations) {
    expect(['public', 'signed-in', 'read', 'manage']).toContain(permission);
    if (path.includes('{factory}')) expect(['read', 'manage']).toContain(permission);
    // These ask, with a body.
    const asks = ['testFilter', 'testOnStored', 'plan', 'planAutomation'].includes(id);
    if (method !== 'get' && path.includes('{factory}') && !asks) {
      expect({ id, permission }).toEqual({ id, permission: 'manage' });
    }
  }
});

test('refuses a revoked token with its next request, and ends its session', async () => {
  const daemon = shared();
  const client = await daemon.client();
  const session = await signIn(daemon, client);
  expect(await client.call('listWebhooks')).toMatchObject({ status: 200 });
  expect(await call(daemon.managementUrl, 'listWebhooks', { headers: session })).toMatchObject({
    status: 200,
  });
  await daemon.revoke(client);
  expect((await client.call('listWebhooks')).json.code).toBe('token-revoked');
  const over = await call(daemon.managementUrl, 'listWebhooks', { headers: session });
  expect(over.json.code).toBe('session-over');
});

test('refuses an expired token, and ends its session', async () => {
  const daemon = shared();
  const expiresAt = new Date(daemon.clock.nowMs + 60_000).toISOString();
  const client = await daemon.client({ expiresAt });
  const headers = await signIn(daemon, client);
  const codes = async () => [
    (await client.call('listWebhooks')).json.code,
    (await call(daemon.managementUrl, 'listWebhooks', { headers })).json.code,
    (await call(daemon.managementUrl, 'signIn', { body: { token: client.token } })).json.code,
  ];
  daemon.clock.nowMs += 59_999;
  expect(await codes()).toEqual([undefined, undefined, undefined]);
  daemon.clock.nowMs += 1;
  expect(await codes()).toEqual(['token-expired', 'session-over', 'token-expired']);
});

test("keeps a token's last use, not with each request", async () => {
  const daemon = shared();
  const client = await daemon.client();
  const lastUse = async () => {
    const tokens = await daemon.store.apiTokens.list();
    return tokens.find(({ name }) => name === client.tokenName)?.lastUsedAt ?? null;
  };
  expect(await lastUse()).toBeNull();
  await client.call('whoAmI');
  await expect.poll(lastUse).toBe(new Date(daemon.clock.nowMs).toISOString());
  const first = await lastUse();
  daemon.clock.nowMs += 30_000;
  await client.call('whoAmI');
  daemon.clock.nowMs += 31_000;
  await client.call('whoAmI');
  await expect.poll(lastUse).toBe(new Date(daemon.clock.nowMs).toISOString());
  expect(first).not.toBe(await lastUse());
});

test('signs in with a cookie that no script and no other site gets, and out again', async () => {
  const daemon = shared();
  const client = await daemon.client();
  const signedIn = await call(daemon.managementUrl, 'signIn', { body: { token: client.token } });
  const [set] = [signedIn.headers['set-cookie']].flat();
  expect(set).toMatch(/^hookmill_session_\d+=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(set).not.toContain(client.token);
  const cookie = set?.split(';')[0] ?? '';
  const withSession = { headers: { cookie, 'x-hookmill-session': signedIn.json.sessionKey } };
  expect((await call(daemon.managementUrl, 'whoAmI', withSession)).json).toEqual({
    kind: 'token',
    name: client.tokenName,
    grants: [{ factory: 'default', permission: 'manage' }],
  });
  const signedOut = await call(daemon.managementUrl, 'signOut', withSession);
  expect(String(signedOut.headers['set-cookie'])).toMatch(/^hookmill_session_\d+=; Max-Age=0;/);
  expect((await call(daemon.managementUrl, 'whoAmI', withSession)).json.code).toBe('session-over');
});

test('a sign-in ends the session that the page had before', async () => {
  const daemon = shared();
  const client = await daemon.client();
  const before = await signIn(daemon, client);
  const again = await call(daemon.managementUrl, 'signIn', {
    body: { token: client.token },
    headers: before,
  });
  expect(again.status).toBe(200);
  expect((await call(daemon.managementUrl, 'whoAmI', { headers: before })).json.code).toBe('session-over');
});

test('marks the cookie as Secure behind an https proxy, under a name that only https can set', async () => {
  const daemon = behindHttps();
  const client = await daemon.client();
  const host = { host: 'hooks.internal' };
  const body = { token: client.token };
  const signedIn = await call(daemon.managementUrl, 'signIn', { body, headers: host });
  expect(String(signedIn.headers['set-cookie'])).toMatch(/^__Host-hookmill_session=.*; Path=\/;.*; Secure$/);
});

test('tells browsers on both ports to come only with https, behind https and nowhere else', async () => {
  const daemon = behindHttps();
  const ask = async (url: string, headers: Record<string, string>) =>
    (await send(url, { method: 'GET', headers })).headers['strict-transport-security'];
  const proxied = { host: 'localhost', 'x-forwarded-proto': 'https' };
  const always = 'max-age=31536000';
  for (const path of ['/', '/api/v1/session', '/nowhere']) {
    expect(await ask(daemon.managementUrl + path, { host: 'hooks.internal' })).toBe(always);
    expect(await ask(daemon.managementUrl + path, proxied)).toBe(always);
    expect(await ask(daemon.managementUrl + path, { host: 'localhost' })).toBeUndefined();
  }
  expect(await ask(daemon.ingressUrl, { host: 'hooks.example.com' })).toBe(always);
  expect(await ask(daemon.ingressUrl, proxied)).toBe(always);
  expect(await ask(daemon.ingressUrl, { host: 'localhost' })).toBeUndefined();
  for (const headers of [proxied, { host: 'hooks.internal:9000' }]) {
    expect(await ask(named().managementUrl, headers)).toBeUndefined();
  }
});

test('a session is valid only at the port at which it began, whose number is in the name of its cookie', async () => {
  const daemon = shared();
  const { cookie, ...key } = await signIn(daemon, await daemon.client());
  const { port, host } = new URL(daemon.managementUrl);
  const [name, id] = cookie.split('=');
  expect(name).toBe(`hookmill_session_${port}`);
  const statusAt = async (host: string, cookie: string) =>
    (await call(daemon.managementUrl, 'whoAmI', { headers: { host, cookie, ...key } })).status;
  expect(await statusAt(host, cookie)).toBe(200);
  expect(await statusAt('127.0.0.1:1', cookie)).toBe(401);
  expect(await statusAt('127.0.0.1:1', `hookmill_session_1=${id}`)).toBe(401);
});

test("a token that signs in again and again ends its own oldest session, and no other token's", async () => {
  const daemon = shared();
  const admin = await signIn(daemon, await daemon.client());
  const reader = await daemon.client({ permission: 'read' });
  const first = await signIn(daemon, reader);
  const second = await signIn(daemon, reader);
  for (let count = 0; count < 99; count++) await signIn(daemon, reader);
  const status = async (session: Awaited<ReturnType<typeof signIn>>) =>
    (await call(daemon.managementUrl, 'whoAmI', { headers: session })).status;
  expect([await status(first), await status(second), await status(admin)]).toEqual([401, 200, 200]);
});

// The clock of the database decides when its sessions end: replica-sessions.test.ts.
test.skipIf(areHomesInPostgres())('ends a session after twelve hours, however much it is used', async () => {
  const daemon = shared();
  const headers = await signIn(daemon, await daemon.client());
  for (let halfHours = 1; halfHours < 24; halfHours++) {
    daemon.clock.nowMs += 30 * 60 * 1000;
    expect(await call(daemon.managementUrl, 'whoAmI', { headers })).toMatchObject({ status: 200 });
  }
  daemon.clock.nowMs += 30 * 60 * 1000;
  expect(await call(daemon.managementUrl, 'whoAmI', { headers })).toMatchObject({ status: 401 });
});

// The clock of the database decides when its sessions end: test/system/store/conformance/sessions.ts.
test.skipIf(areHomesInPostgres())(
  'ends a session that nobody has used for an hour, also if its page goes on reading by itself',
  async () => {
    const daemon = shared();
    const client = await daemon.client();
    const [used, open, unused] = [
      await signIn(daemon, client),
      await signIn(daemon, client),
      await signIn(daemon, client),
    ];
    const status = async (headers: Record<string, string>) =>
      (await call(daemon.managementUrl, 'whoAmI', { headers })).status;
    const unattended = { ...open, 'x-hookmill-unattended': '1' };
    for (let minutes = 20; minutes < 60; minutes += 20) {
      daemon.clock.nowMs += 20 * 60_000;
      expect([await status(used), await status(unattended)]).toEqual([200, 200]);
    }
    daemon.clock.nowMs += 20 * 60_000;
    expect([await status(used), await status(unattended), await status(unused)]).toEqual([200, 401, 401]);
  },
);

test('shows to each caller the own sessions, and to managers the sessions of their factories, and ends them', async () => {
  const daemon = await startManagedDaemon();
  const [reader, manager, other, admin] = [
    await daemon.client({ permission: 'read' }),
    await daemon.client(),
    await daemon.client({ factory: 'other' }),
    await daemon.client({ factory: null }),
  ];
  const sessions = {
    reader: await signIn(daemon, reader),
    manager: await signIn(daemon, manager),
    other: await signIn(daemon, other),
    admin: await signIn(daemon, admin),
  };
  const list = async (
    headers: Record<string, string>,
  ): Promise<{ id: string; name: string; current: boolean }[]> =>
    (await call(daemon.managementUrl, 'listSessions', { headers })).json.sessions;
  const namesSeenBy = async (headers: Record<string, string>) =>
    (await list(headers)).map(({ name, current }) => `${name}${current ? ', this one' : ''}`);
  const end = async (headers: Record<string, string>, session: string | undefined) =>
    (await call(daemon.managementUrl, 'endSession', { params: { session: session ?? '' }, headers })).status;
  const names = {
    reader: reader.tokenName,
    manager: manager.tokenName,
    other: other.tokenName,
    admin: admin.tokenName,
  };
  expect(await namesSeenBy(sessions.reader)).toEqual([`${names.reader}, this one`]);
  expect(await namesSeenBy(sessions.manager)).toEqual([`${names.manager}, this one`, names.reader]);
  expect(await namesSeenBy(sessions.admin)).toEqual([
    `${names.admin}, this one`,
    ...[names.other, names.manager, names.reader],
  ]);
  const [adminSession, otherSession, managerSession, readerSession] = await list(sessions.admin);
  expect(readerSession).toMatchObject({ kind: 'token', subject: null, from: '127.0.0.1' });
  for (const session of [adminSession, otherSession, managerSession]) {
    expect(await end(sessions.reader, session?.id)).toBe(404);
  }
  expect(await end(sessions.manager, otherSession?.id)).toBe(404);
  expect(await end(sessions.manager, readerSession?.id)).toBe(204);
  expect(await end(sessions.other, otherSession?.id)).toBe(204);
  expect(await namesSeenBy(sessions.admin)).toEqual([`${names.admin}, this one`, names.manager]);
  expect((await call(daemon.managementUrl, 'whoAmI', { headers: sessions.reader })).json.code).toBe(
    'session-over',
  );
  // Who ends an own session changes nothing of anybody else.
  expect(await daemon.store.auditLog.list({ limit: 9 })).toMatchObject([
    {
      who: { kind: 'token', name: names.manager },
      operation: 'endSession',
      // Nobody who manages one factory pushes out entries of all of them.
      factory: 'default',
      subject: `${readerSession?.id} of ${names.reader}`,
    },
  ]);
});

test("a session's cookie is worth nothing without its key, nor the key without the cookie, on every route", async () => {
  const daemon = shared();
  const client = await daemon.client();
  const { cookie, ...key } = await signIn(daemon, client);
  const other = await signIn(daemon, client);
  for (const [id, { permission }] of operations) {
    if (permission === 'public') continue;
    const codes = [{ cookie }, key, { ...other, cookie }].map(
      async headers => (await call(daemon.managementUrl, id, { headers })).json.code,
    );
    expect(await Promise.all(codes), id).toEqual(['not-signed-in', 'not-signed-in', 'session-over']);
  }
  const signOut = await call(daemon.managementUrl, 'signOut', { headers: { cookie } });
  expect(signOut.status).toBe(204);
  expect(await call(daemon.managementUrl, 'whoAmI', { headers: { cookie, ...key } })).toMatchObject({
    status: 200,
  });
});

test("takes a session's writes only from the dashboard's own script", async () => {
  const daemon = shared();
  const own = await signIn(daemon, await daemon.client());
  const { cookie } = own;
  const { host, origin } = new URL(daemon.managementUrl);
  const write = async (headers: Record<string, string>) => {
    const name = `hook-${Math.random().toString(36).slice(2)}`;
    return (await call(daemon.managementUrl, 'createWebhook', { body: { name }, headers })).status;
  };
  expect(await write({ cookie })).toBe(401);
  expect(await write({ ...own, origin: 'https://evil.example' })).toBe(403);
  expect(await write({ ...own, origin: `http://localhost:1${host.split(':')[1]}` })).toBe(403);
  expect(await write({ ...own, origin: 'null' })).toBe(403);
  expect(await write({ ...own, 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await write({ ...own, origin, 'sec-fetch-site': 'same-origin' })).toBe(201);
  expect(await write(own)).toBe(201);
});

test('takes no form, which any site can send', async () => {
  const daemon = shared();
  const { token } = await daemon.client();
  const headers = { 'content-type': 'text/plain' };
  const answer = await call(daemon.managementUrl, 'signIn', { body: { token }, headers });
  expect(answer.json.code).toBe('not-json');
});

test('gives a client that waits for 100 Continue leave to send its body', async () => {
  const { managementUrl } = shared();
  const connection = await connectTo(managementUrl);
  const lines = [
    'POST /api/v1/session HTTP/1.1',
    `Host: ${new URL(managementUrl).host}`,
    ...['Content-Type: application/json', 'Content-Length: 2', 'Expect: 100-continue'],
  ];
  connection.write(`${lines.join('\r\n')}\r\n\r\n`);
  await connection.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  connection.write('{}');
  await connection.receives(/HTTP\/1\.1 422 /);
});

test('stops an address that guesses at tokens, until the minute is over', async () => {
  const daemon = await startManagedDaemon();
  const { token } = await daemon.client();
  const attempt = async (token: string) =>
    (await call(daemon.managementUrl, 'signIn', { body: { token } })).status;
  for (let count = 0; count < 10; count++) expect(await attempt('hmk_guess')).toBe(401);
  expect(await attempt('hmk_guess')).toBe(429);
  expect(await attempt(token)).toBe(429);
});

test('refuses host names that others can point at it', async () => {
  const daemon = named();
  const { port } = new URL(daemon.managementUrl);
  const status = async (host: string, path: string) =>
    (await send(`${daemon.managementUrl}${path}`, { method: 'GET', headers: { host } })).status;
  for (const path of ['/api/v1/openapi.json', '/metrics', '/readyz', '/']) {
    expect(await status('evil.example', path)).toBe(403);
    expect(await status(`127.0.0.1.evil.example:${port}`, path)).toBe(403);
    expect(await status('hooks.internal', path)).toBe(403);
  }
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, '[::1]', 'hooks.internal:9000']) {
    expect(await status(host, '/api/v1/openapi.json')).toBe(200);
  }
});

test('shows metrics and reasons only at an address of the machine, and to tokens; behind a proxy only whether it is ready', async () => {
  const daemon = await startManagedDaemon({ managementUrl: 'https://hooks.internal' });
  const { port } = new URL(daemon.managementUrl);
  const ask = (path: string, headers: Record<string, string> = {}) =>
    send(`${daemon.managementUrl}${path}`, { method: 'GET', headers });
  const strangers: Record<string, string>[] = [
    { host: 'hooks.internal' },
    { host: `127.0.0.1:${port}`, 'x-forwarded-for': '203.0.113.7' },
    { host: 'localhost', forwarded: 'for=203.0.113.7' },
    { host: 'localhost', via: '1.1 proxy' },
  ];
  for (const headers of strangers) {
    for (const path of ['/metrics', '/./metrics', '/%2e/metrics']) {
      expect((await ask(path, headers)).status).toBe(403);
    }
    const { status, body } = await ask('/readyz', headers);
    expect([status, JSON.parse(body)]).toEqual([200, { status: 'ready' }]);
  }
  for (const host of [`127.0.0.1:${port}`, '10.1.2.3:8082', 'localhost', '[::1]:9']) {
    expect((await ask('/metrics', { host })).body).toContain('hookmill_ingress_seconds');
    expect(JSON.parse((await ask('/readyz', { host })).body)).toMatchObject({ factories: [] });
  }
  const withToken = async (factory: string | null) => {
    const { token } = await daemon.client({ factory, permission: 'read' });
    const headers = { host: 'hooks.internal', authorization: `Bearer ${token}` };
    return [(await ask('/metrics', headers)).status, JSON.parse((await ask('/readyz', headers)).body)];
  };
  expect(await withToken('default')).toEqual([403, expect.objectContaining({ factories: [] })]);
  expect(await withToken(null)).toEqual([200, expect.objectContaining({ factories: [] })]);
  const wrong = await ask('/readyz', { host: 'hooks.internal', authorization: 'Bearer hmk_wrong' });
  expect(wrong.status).toBe(401);
});

test('tells browsers with every answer to run only its own files, and to store nothing', async () => {
  const daemon = shared();
  for (const path of ['/', '/api/v1/openapi.json', '/api/v1/factories', '/nowhere', '/metrics']) {
    const { headers } = await send(`${daemon.managementUrl}${path}`, { method: 'GET' });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(headers['content-security-policy']).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
  }
});

/** The headers that a session sends: its cookie, and its key. */
