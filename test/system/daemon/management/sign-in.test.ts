import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { newHome } from '../../../support/factory.ts';
import { onFileFinished } from '../../../support/file-end.ts';
import { placeOfHome } from '../../../support/home-place.ts';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import {
  call,
  type ManagedDaemon,
  openManagedDaemon,
  startManagedDaemon,
} from '../../../support/management.ts';
import {
  longLogin,
  signInAtProvider,
  startProvider,
  type TestProvider,
} from '../../../support/sign-in-provider.ts';
import { storeIn } from '../../../support/stored.ts';

async function startBoth(given: Parameters<typeof startProvider>[0] = {}, onEnd: OnEnd = onTestFinished) {
  const provider = await startProvider(given, onEnd);
  const home = newHome();
  await storeIn(home).teamSecrets.set('OIDC', provider.clientSecret);
  const daemon = await openManagedDaemon(provider.settings, home);
  onEnd(daemon.stop);
  return { provider, daemon, home };
}
type OnEnd = (end: () => Promise<void> | void) => void;

/** Both, for all tests that neither stop the daemon nor look at everything that it has. */
let shared: Awaited<ReturnType<typeof startBoth>>;
beforeAll(async () => {
  shared = await startBoth({}, onFileFinished);
});
// Each test is refused as often as one address may be in a minute.
beforeEach(() => {
  shared.daemon.clock.monotonicMs += 60_000;
});

/** Leaves for the provider, signs in there, and returns what the browser comes back with. */
async function visitProvider({ managementUrl }: TestProvider, login: string) {
  const begun = await call(managementUrl, 'beginSignIn', { body: {} });
  const [set = ''] = [begun.headers['set-cookie']].flat();
  const cookie = set.split(';')[0] ?? '';
  return {
    set,
    cookie,
    url: begun.json.url,
    attemptKey: begun.json.attemptKey as string,
    query: await signInAtProvider(begun.json.url, login, managementUrl),
  };
}

async function finish({ managementUrl }: TestProvider, query: string, cookie: string, attemptKey: string) {
  return call(managementUrl, 'finishSignIn', { body: { query, attemptKey }, headers: { cookie } });
}

async function signIn(provider: TestProvider, login: string) {
  const { query, cookie, attemptKey } = await visitProvider(provider, login);
  const finished = await finish(provider, query, cookie, attemptKey);
  const cookies = [finished.headers['set-cookie']].flat().map(set => set?.split(';')[0]);
  const session = { cookie: cookies.at(-1) ?? '', 'x-hookmill-session': String(finished.json.sessionKey) };
  return { finished, session, query, cookie };
}

test('lets a person do what their groups may, and nothing else', async () => {
  const { provider } = shared;
  const may = async (login: string) => {
    const { finished, session } = await signIn(provider, login);
    const status = async (id: 'listWebhooks' | 'createWebhook', factory: string) => {
      const body = id === 'createWebhook' ? { body: { name: 'hook' } } : {};
      const given = { params: { factory }, headers: session, ...body };
      return (await call(provider.managementUrl, id, given)).status;
    };
    return {
      name: finished.json.name,
      payments: [await status('listWebhooks', 'payments'), await status('createWebhook', 'payments')],
      other: [await status('listWebhooks', 'other'), await status('createWebhook', 'other')],
      factories: (
        await call(provider.managementUrl, 'listFactories', { headers: session })
      ).json.factories.map(({ factory }: { factory: string }) => factory),
    };
  };
  expect(await may('bob')).toEqual({
    name: 'bob@example.com',
    payments: [200, 403],
    other: [403, 403],
    factories: ['payments'],
  });
  expect(await may('ada')).toMatchObject({ payments: [200, 201], other: [200, 201] });
});

test('takes the groups from the ID token, if the provider puts them there', async () => {
  const { provider } = await startBoth({ groupsIn: 'id-token' });
  expect((await signIn(provider, 'bob')).finished.json.grants).toEqual([
    { factory: 'payments', permission: 'read' },
  ]);
});

test('refuses a person without a group that the settings name', async () => {
  const { provider } = shared;
  const { finished } = await signIn(provider, 'eve');
  expect(finished).toMatchObject({ status: 403, json: { code: 'sign-in-refused' } });
  expect(finished.json.detail).toContain('none of the groups of eve@example.com');
  expect(String(finished.headers['set-cookie'])).toMatch(/^hookmill_sign_in_\d+=; Max-Age=0;/);
});

test('asks with PKCE, state and nonce, and comes back only to its own page', async () => {
  const { provider } = shared;
  const { set, url } = await visitProvider(provider, 'ada');
  expect(set).toMatch(/^hookmill_sign_in_\d+=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict$/);
  const asked = Object.fromEntries(new URL(url).searchParams);
  expect(asked).toMatchObject({
    redirect_uri: `${provider.managementUrl}/sign-in`,
    response_type: 'code',
    scope: 'openid profile groups',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  // None of them says what is in the cookie.
  const secret = /=([\w-]+);/.exec(set)?.[1] ?? '';
  expect(url).not.toContain(secret);
});

test('finishes a sign-in only once, and only in the browser that began it', async () => {
  const { provider } = shared;
  const mine = await visitProvider(provider, 'ada');
  const other = await visitProvider(provider, 'bob');
  for (const cookie of ['', other.cookie, mine.cookie.replace(/=./, '=')]) {
    const { json } = await finish(provider, mine.query, cookie, mine.attemptKey);
    expect(json.code).toBe('sign-in-refused');
  }
  expect((await finish(provider, mine.query, mine.cookie, mine.attemptKey)).status).toBe(200);
  const again = await finish(provider, mine.query, mine.cookie, mine.attemptKey);
  expect(again.json.code).toBe('sign-in-refused');
});

test('finishes a sign-in only in the page that has its key, whatever the cookie', async () => {
  const { provider } = shared;
  const mine = await visitProvider(provider, 'ada');
  const other = await visitProvider(provider, 'bob');
  for (const attemptKey of ['', other.attemptKey, mine.attemptKey.slice(1)]) {
    const { json } = await finish(provider, mine.query, mine.cookie, attemptKey);
    expect(json.code).toBe('sign-in-refused');
  }
  expect((await finish(provider, mine.query, mine.cookie, mine.attemptKey)).status).toBe(200);
});

test('refuses what the provider did not send: another code, state or issuer, and an error', async () => {
  const { provider } = shared;
  const { query, cookie, attemptKey } = await visitProvider(provider, 'ada');
  const change = (name: string, value: string) => {
    const changed = new URLSearchParams(query);
    changed.set(name, value);
    return `?${changed}`;
  };
  const state = new URLSearchParams(query).get('state');
  for (const wrong of [
    ...[change('code', 'x'), change('state', 'x'), change('iss', 'https://evil.example')],
    ...[`?error=access_denied&state=${state}`, '', '?', `//evil.example/${query}`, '#', `${query}&code=2`],
  ]) {
    expect((await finish(provider, wrong, cookie, attemptKey)).json.code, wrong).toBe('sign-in-refused');
  }
});

test('gives each sign-in a new session, which ends at sign-out and by itself', async () => {
  const { provider, daemon } = shared;
  const [one, other] = [await signIn(provider, 'ada'), await signIn(provider, 'ada')];
  expect(one.session.cookie).not.toBe(other.session.cookie);
  expect(String(one.finished.headers['set-cookie'])).toMatch(
    /hookmill_session_\d+=[\w-]{43}; Max-Age=14400;/,
  );
  const status = async (headers: typeof one.session) =>
    (await call(daemon.managementUrl, 'whoAmI', { headers })).status;
  await call(daemon.managementUrl, 'signOut', { headers: one.session });
  expect([await status(one.session), await status(other.session)]).toEqual([401, 200]);
});

test('keeps no token of the provider and no client secret, on disk or in the log', async () => {
  const { provider, daemon, home } = await startBoth();
  const { query, cookie, session } = await signIn(provider, 'ada');
  const issued = [...provider.answers().matchAll(/"(?:access_token|id_token)":"([^"]+)"/g)].map(
    ([, t = '']) => t,
  );
  expect(issued.length).toBe(2);
  const secrets = [...issued, provider.clientSecret, new URLSearchParams(query).get('code') ?? ''];
  const files = readdirSync(home.directory, { recursive: true, withFileTypes: true });
  const stored = files
    .filter(file => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  for (const secret of [...secrets, cookie.split('=')[1] ?? '', session['x-hookmill-session']]) {
    expect(daemon.logged()).not.toContain(secret);
    expect(stored.join()).not.toContain(secret);
  }
  expect(daemon.logged()).toContain('"person":"ada@example.com"');
});

test('names the person in the audit log and in the line of the log, so that nobody else can be meant', async () => {
  const { provider, daemon } = shared;
  const { session: headers } = await signIn(provider, 'ada');
  await call(provider.managementUrl, 'createWebhook', { headers, body: { name: 'hook' } });
  expect(await daemon.store.auditLog.list({ limit: 1 })).toMatchObject([
    { who: { kind: 'person', name: 'ada@example.com (ada)' }, operation: 'createWebhook', subject: 'hook' },
  ]);
  const change = daemon
    .logged()
    .split('\n')
    .findLast(line => line.includes('"operation":"createWebhook"'));
  expect(JSON.parse(change ?? '')).toMatchObject({ person: 'ada@example.com', subject: 'ada' });
});

test('cuts a long name, but not the subject by which a person is known', async () => {
  const { provider, daemon } = shared;
  const { session: headers } = await signIn(provider, longLogin);
  await call(provider.managementUrl, 'createWebhook', { headers, body: { name: 'other-hook' } });
  const [entry] = await daemon.store.auditLog.list({ limit: 1 });
  expect(entry?.who.name).toMatch(new RegExp(`^zoe-[^ ]* \\(${longLogin}\\)$`));
});

test('a person sees and ends the own sessions, and a manager of all factories the sessions of everybody', async () => {
  const { provider, daemon } = await startBoth();
  const [bob, elsewhere, ada] = [
    await signIn(provider, 'bob'),
    await signIn(provider, 'bob'),
    await signIn(provider, 'ada'),
  ];
  const list = async ({ session: headers }: typeof bob) =>
    (await call(daemon.managementUrl, 'listSessions', { headers })).json.sessions;
  const own = await list(bob);
  expect(own).toMatchObject([
    { kind: 'person', name: 'bob@example.com', subject: 'bob', current: false },
    { kind: 'person', name: 'bob@example.com', subject: 'bob', current: true },
  ]);
  const end = async ({ session: headers }: typeof bob, id: string) =>
    (await call(daemon.managementUrl, 'endSession', { params: { session: id }, headers })).status;
  const all = await list(ada);
  expect(await end(bob, all[0].id)).toBe(404);
  expect(await end(bob, own[0].id)).toBe(204);
  const names = async () => (await list(ada)).map(({ name }: { name: string }) => name);
  expect(await names()).toEqual(['ada@example.com', 'bob@example.com']);
  expect(await end(ada, own[1].id)).toBe(204);
  expect(await names()).toEqual(['ada@example.com']);
  for (const { session: headers } of [bob, elsewhere]) {
    expect((await call(daemon.managementUrl, 'whoAmI', { headers })).json.code).toBe('session-over');
  }
});

test('ends sessions whose group has lost its grant, and those of another issuer, with the next start', async () => {
  const { provider, daemon, home } = await startBoth();
  const { session: headers } = await signIn(provider, 'bob');
  await daemon.stop();
  const codeWith = async (change: object) => {
    const { settings } = provider;
    const again = await openManagedDaemon({ ...settings, signIn: { ...settings.signIn, ...change } }, home);
    const { json } = await call(again.managementUrl, 'whoAmI', { headers });
    await again.stop();
    return json.code ?? json.name;
  };
  expect(await codeWith({})).toBe('bob@example.com');
  expect(await codeWith({ issuer: 'https://login.example' })).toBe('session-over');
  expect(await codeWith({ grants: [{ group: 'platform', permission: 'manage' }] })).toBe('session-over');
});

test('offers the sign-in only where it leads back to, and no other host can begin it', async () => {
  const { provider } = shared;
  const host = provider.managementUrl.replace('http://127.0.0.1', 'localhost');
  const shown = async (headers = {}) =>
    (await call(provider.managementUrl, 'showSignIn', { headers })).json.provider;
  expect([await shown(), await shown({ host })]).toEqual([{ label: 'Acme' }, null]);
  const begun = await call(provider.managementUrl, 'beginSignIn', { body: {}, headers: { host } });
  expect(begun).toMatchObject({ status: 403, json: { code: 'sign-in-refused' } });
  const crossSite = { origin: 'https://evil.example' };
  const forged = await call(provider.managementUrl, 'beginSignIn', { body: {}, headers: crossSite });
  expect(forged.json.code).toBe('cross-site');
});

test('has no sign-in without settings', async () => {
  const { managementUrl } = await startManagedDaemon();
  expect((await call(managementUrl, 'showSignIn')).json).toEqual({ provider: null });
  expect((await call(managementUrl, 'beginSignIn', { body: {} })).status).toBe(404);
});

test('says that the provider does not answer, and signs in once it does', async () => {
  const { provider } = await startBoth();
  await provider.stop();
  const begun = await call(provider.managementUrl, 'beginSignIn', { body: {} });
  expect(begun).toMatchObject({ status: 503, json: { code: 'provider-unreachable' } });
  expect(begun.headers['set-cookie']).toBeUndefined();
  await provider.start();
  expect((await signIn(provider, 'ada')).finished.status).toBe(200);
});

test('refuses a provider whose metadata is endless, of another issuer, or leads into a script', async () => {
  const answers: Record<string, string> = { endless: ' '.repeat(2 * 1024 * 1024) };
  const base = await startLoopbackServer(({ url = '' }, response) => {
    const [, name = ''] = url.split('/');
    response.setHeader('content-type', 'application/json').end(answers[name]);
  });
  answers.other = JSON.stringify({ issuer: 'https://other.example' });
  answers.script = JSON.stringify({
    issuer: `${base}/script`,
    authorization_endpoint: 'javascript:alert(1)',
    token_endpoint: `${base}/token`,
  });
  const provider = await startProvider();
  const codes: Record<string, string> = {};
  for (const name of Object.keys(answers)) {
    const home = newHome();
    await storeIn(home).teamSecrets.set('OIDC', 'secret');
    const signIn = { ...provider.settings.signIn, issuer: `${base}/${name}` };
    const daemon = await openManagedDaemon({ ...provider.settings, signIn }, home);
    codes[name] = (await call(daemon.managementUrl, 'beginSignIn', { body: {} })).json.code;
    await daemon.stop();
  }
  expect(codes).toEqual({
    endless: 'provider-unreachable',
    other: 'provider-invalid',
    script: 'provider-invalid',
  });
});

test('does not start without the client secret that the settings name', async () => {
  const { settings } = await startProvider();
  const home = newHome();
  const start = (signIn: object): Promise<ManagedDaemon> =>
    openManagedDaemon(
      { ...settings, signIn: { ...settings.signIn, ...signIn } },
      home,
      placeOfHome(home.directory),
    );
  await expect(start({})).rejects.toThrow(
    'signIn.clientSecret: the team secret OIDC has no value; set it with `hookmill secrets set OIDC`',
  );
  const variable = { clientSecret: undefined, clientSecretFromEnvironment: 'NOT_SET' };
  await expect(start(variable)).rejects.toThrow('the environment variable NOT_SET is not set');
});
