import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  createGitHubClient,
  type GitHubClientOptions,
  resolveGitHubApi,
} from '../../../senders/github-client.ts';
import { ProviderError, type WantedHook } from '../../../senders/provider-client.ts';
import { startReceiver } from '../../support/loopback-server.ts';
import { failureOf } from '../../support/senders/failure-of.ts';
import { startGithubApi } from '../../support/senders/github-api.ts';

const wanted: WantedHook = {
  url: 'https://hooks.example.com/webhooks/w/1',
  events: ['pull_request', 'push'],
  secret: 'hook-secret-5f3a',
  contentType: 'json',
};

const tokens = {
  'github-token': { kind: 'classic', scopes: ['repo', 'admin:repo_hook', 'admin:org_hook'] },
  'without-scope': { kind: 'classic', scopes: ['gist'] },
  'read-only': { kind: 'fine-grained', repositoryHooks: 'read' },
} as const;

/** Starts a GitHub Enterprise Server, which has the rate limits of github.com. */
async function start() {
  const github = await startGithubApi({ basePath: '/api/v3', requestsPerHour: 5_000, tokens });
  const create = (given: Partial<GitHubClientOptions> = {}) =>
    createClient({ url: github.url, nowMs: github.clock.now, ...given });
  /** Adds a hook as a person does on the website. */
  const addHook = (url = wanted.url, events = ['push'], owner = 'acme/shop') =>
    github.addHook(owner, { events, config: { url, secret: 'old-secret' } });
  return { github, create, addHook };
}

function createClient(given: Partial<GitHubClientOptions>) {
  return createGitHubClient({
    ...{ target: { repository: 'acme/shop' }, credential: 'github-token', isTrusted: true },
    ...{ stopping: new AbortController().signal, nowMs: Date.now, ...given },
  });
}

const startIngress = () => startReceiver((_request, response) => response.writeHead(202).end());

describe.each([
  ['a repository', { repository: 'acme/shop' }, 'acme/shop'],
  ['an organization', { organization: 'acme' }, 'acme'],
] as const)('of %s', (_, target, owner) => {
  test('a new hook sends JSON, signed, to a verified server', async () => {
    const { github, create } = await start();
    const hook = await create({ target }).createHook(wanted);
    expect(github.hooks).toMatchObject([
      {
        ...{ owner: { name: owner }, active: true, events: wanted.events },
        config: { url: wanted.url, content_type: 'json', insecure_ssl: '0', secret: wanted.secret },
      },
    ]);
    expect(hook).toEqual({
      ...{ id: String(github.hooks[0]?.id), url: wanted.url, events: ['pull_request', 'push'] },
      ...{ isActive: true, disabledUntil: null, contentType: 'json', verifiesTls: true },
      ...{ hasSecret: true, lastAnswer: null },
    });
  });

  test('a hook of a webhook that takes forms sends forms', async () => {
    const { github, create } = await start();
    const hook = await create({ target }).createHook({ ...wanted, contentType: 'form' });
    expect(hook.contentType).toBe('form');
    expect(github.hooks).toMatchObject([{ config: { content_type: 'form', secret: wanted.secret } }]);
  });

  test('a changed hook still has a secret, and no longer sends forms', async () => {
    const { github, create } = await start();
    const old = github.addHook(owner, {
      ...{ active: false, events: ['fork'] },
      config: { url: 'https://old.example.com/', insecure_ssl: '1', secret: 'old-secret' },
    });
    const hook = await create({ target }).changeHook(String(old.id), wanted);
    expect(old).toMatchObject({
      ...{ active: true, events: wanted.events },
      config: { url: wanted.url, content_type: 'json', insecure_ssl: '0', secret: wanted.secret },
    });
    expect(hook).toMatchObject({ isActive: true, contentType: 'json', verifiesTls: true, hasSecret: true });
  });

  test('all hooks are listed, on however many pages', async () => {
    const { create, addHook } = await start();
    const events = ['push', 'fork', 'watch', 'star', 'issues', 'create', 'delete'];
    const urls = Array.from({ length: 140 }, (_item, index) => `https://${index}.example.com/`);
    for (const [index, url] of urls.entries()) addHook(url, [events[index % 7] ?? ''], owner);
    const hooks = await create({ target }).listHooks();
    expect(hooks.map(({ url }) => url)).toEqual(urls);
    expect(hooks[0]).toMatchObject({ contentType: 'form', hasSecret: true, events: ['push'] });
  });

  test('a ping reaches the URL of the hook', async () => {
    const { github, create, addHook } = await start();
    const { requests, url } = await startIngress();
    addHook(url, ['push'], owner);
    const client = create({ target });
    const [hook] = await client.listHooks();
    if (hook) await client.ping(hook);
    await github.settled();
    expect(requests.map(({ headers }) => headers['x-github-event'])).toEqual(['ping']);
  });

  test('an event is sent again under the same ID', async () => {
    const { github, create, addHook } = await start();
    const { requests, url } = await startIngress();
    const { id } = addHook(url, ['push'], owner);
    const [missed] = github.deliverMany(1, 'push', null);
    const client = create({ target });
    const { attempts } = await client.listAttempts(String(id), null);
    expect(attempts).toEqual([
      {
        // Of 64 bits, which no number has.
        ...{ id: String(missed?.id), eventId: missed?.guid, event: 'push', action: null },
        ...{ atMs: missed?.deliveredAtMs, status: 502 },
        canRedeliver: true,
      },
    ]);
    await client.redeliver(String(id), attempts[0]?.id ?? '');
    await github.settled();
    expect(requests.map(({ headers }) => headers['x-github-delivery'])).toEqual([missed?.guid]);
  });
});

test('the last answer of the ingress is told', async () => {
  const { github, create, addHook } = await start();
  const { url } = await startReceiver((_request, response) => response.writeHead(401).end());
  addHook(url);
  const client = create();
  expect(await client.listHooks()).toMatchObject([{ lastAnswer: null }]);
  await github.deliver('push', null, {});
  expect(await client.listHooks()).toMatchObject([
    { lastAnswer: { status: 401, message: 'Invalid HTTP Response: 401' } },
  ]);
});

test('attempts are listed page by page, with the success of one that was sent again', async () => {
  const { github, create, addHook } = await start();
  const { url } = await startIngress();
  const id = String(addHook(url, ['issues']).id);
  const missed = github.deliverMany(250, 'issues', 'opened');
  const client = create();
  await client.redeliver(id, String(missed[249]?.id));
  await github.settled();
  const first = await client.listAttempts(id, null);
  expect(first.attempts).toHaveLength(100);
  const guid = missed[249]?.guid;
  expect(first.attempts.filter(({ eventId }) => eventId === guid)).toMatchObject([
    { status: 202, action: 'opened' },
    { status: 502, action: 'opened' },
  ]);
  // What arrives meanwhile moves no page.
  await github.deliver('issues', 'closed', {});
  const second = await client.listAttempts(id, first.next);
  const third = await client.listAttempts(id, second.next);
  expect(third.next).toBeNull();
  const ids = [first, second, third].flatMap(({ attempts }) => attempts.map(attempt => attempt.id));
  const shown = [...missed].reverse().map(delivery => String(delivery.id));
  expect(ids.slice(1)).toEqual(shown);
  const [asked] = github.requests.slice(-3);
  expect(asked?.query.has('status')).toBe(false);
});

test.each(['********', ''])('the secret %j is never set', async secret => {
  const { github, create, addHook } = await start();
  const { id } = addHook();
  const before = github.requests.length;
  for (const change of [
    create().createHook({ ...wanted, secret }),
    create().changeHook(String(id), { ...wanted, secret }),
  ])
    expect((await failureOf(change)).code).toBe('refused');
  expect(github.requests.length).toBe(before);
});

test('one hook too many for an event is refused with what GitHub says', async () => {
  const { github, create, addHook } = await start();
  for (let index = 0; index < 250; index++) addHook(`https://${index}.example.com/`);
  const failure = await failureOf(create().createHook(wanted));
  expect(failure).toMatchObject({
    code: 'refused',
    message: `GitHub answered 422 to POST ${github.url}/repos/acme/shop/hooks (Validation Failed; The "push" event cannot have more than 250 hooks).`,
  });
});

describe('a credential without a right is told which one it needs:', () => {
  test('a classic token, from which GitHub hides the hooks', async () => {
    const { github, create } = await start();
    const failure = await failureOf(create({ credential: 'without-scope' }).listHooks());
    expect(failure.code).toBe('not-found');
    expect(failure.message).toBe(
      `GitHub answered 404 to GET ${github.url}/repos/acme/shop/hooks (Not Found). Check the name. GitHub also answers 404 if the credential lacks a right: it needs the repository permission "Webhooks" (read, or write to register a hook, to ping it or to send again), or the classic scope admin:repo_hook.`,
    );
  });

  test('a fine-grained token that may only read', async () => {
    const { create } = await start();
    const client = create({ credential: 'read-only' });
    expect(await client.listHooks()).toEqual([]);
    const failure = await failureOf(client.createHook(wanted));
    expect(failure.code).toBe('forbidden');
    expect(failure.message).toMatch(
      /403 .* \(Resource not accessible by personal access token\)\. The .*write/,
    );
  });

  test('an organization', async () => {
    const { create } = await start();
    const target = { organization: 'acme' };
    const failure = await failureOf(create({ target, credential: 'without-scope' }).listHooks());
    expect(failure.message).toContain('the classic scope admin:org_hook.');
  });

  test('a token that was revoked', async () => {
    const { create } = await start();
    const failure = await failureOf(create({ credential: 'gone' }).listHooks());
    expect(failure).toMatchObject({ code: 'forbidden' });
    expect(failure.message).toMatch(/\(Bad credentials\)\. The credential is wrong, expired or revoked\.$/);
  });
});

describe('a rate limit is told with the wait:', () => {
  test.each([403, 429] as const)('the hourly one, with %i', async status => {
    const { github, create } = await start();
    github.setRateLimited({ kind: 'primary', resetSeconds: 90, status });
    const failure = await failureOf(create().listHooks());
    expect(failure.code).toBe('rate-limited');
    expect(failure.retryAfterMs).toBeGreaterThan(80_000);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(91_000);
    expect(failure.message).toMatch(/The rate limit is reached\. Try again in \d+ s\.$/);
  });

  test.each([
    ['with Retry-After', { retryAfterSeconds: 30 }, 30_000],
    ['without, for which GitHub asks for a minute', {}, 60_000],
  ])('the secondary one %s', async (_, given, waitMs) => {
    const { github, create } = await start();
    github.setRateLimited({ kind: 'secondary', ...given });
    expect(await failureOf(create().listHooks())).toMatchObject({
      ...{ code: 'rate-limited', retryAfterMs: waitMs },
    });
  });
});

describe('GitHub is unreachable', () => {
  test.each(['refused', 'error'] as const)('while it is down: %s', async outage => {
    const { github, create } = await start();
    await github.setDown(outage);
    expect((await failureOf(create().listHooks())).code).toBe('unreachable');
    await github.setDown(undefined);
    expect(await create().listHooks()).toEqual([]);
  });

  test('when hookmill stops before it answers', async () => {
    const { github, create } = await start();
    await github.setDown('silent');
    const stop = new AbortController();
    const before = github.requests.length;
    const listed = failureOf(create({ stopping: stop.signal }).listHooks());
    await expect.poll(() => github.requests.length).toBe(before + 1);
    stop.abort();
    expect((await listed).code).toBe('unreachable');
  });
});

describe('of a GitHub App', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const hook = {
    url: 'http://127.0.0.1:9/',
    content_type: 'form',
    secret: 'old-secret',
    events: ['push'],
  } as const;
  const appApi = await startGithubApi({
    basePath: '/api/v3',
    app: { id: 4711, clientId: 'Iv23example', publicKey, hook },
  });
  const credential = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
  const create = (given: Partial<GitHubClientOptions> = {}) =>
    createClient({
      target: { app: 'Iv23example' },
      url: appApi.url,
      credential,
      nowMs: appApi.clock.now,
      ...given,
    });
  /** The registration of the app, which the double does not have. */
  const answerRegistration = () => appApi.failNext({ status: 200, body: { events: ['push', 'issues'] } });

  test.each(['Iv23example', '4711', 4711])('the only hook is read with its private key, as %j', async app => {
    answerRegistration();
    expect(await create({ target: { app } }).listHooks()).toEqual([
      {
        ...{ id: 'app', url: 'http://127.0.0.1:9/', isActive: true, disabledUntil: null },
        events: ['github_app_authorization', 'installation', 'installation_repositories', 'issues', 'push'],
        ...{ contentType: 'form', verifiesTls: true, hasSecret: true, lastAnswer: null },
      },
    ]);
  });

  test('the hook is changed, and what it missed is sent again', async () => {
    const { requests, url } = await startIngress();
    const client = create();
    answerRegistration();
    await client.changeHook('app', { ...wanted, url, events: ['push', 'installation'] });
    expect(appApi.hooks).toMatchObject([
      { config: { url, content_type: 'json', insecure_ssl: '0', secret: wanted.secret } },
    ]);
    const [missed] = appApi.deliverMany(1, 'push', null);
    const { attempts } = await client.listAttempts('app', null);
    expect(attempts).toMatchObject([{ eventId: missed?.guid, status: 502 }]);
    await client.redeliver('app', attempts[0]?.id ?? '');
    await appApi.settled();
    expect(requests.map(({ headers }) => headers['x-github-delivery'])).toEqual([missed?.guid]);
  });

  test('what the API cannot do is refused with what a person can do', async () => {
    const client = create();
    expect(await failureOf(client.createHook(wanted))).toMatchObject({
      code: 'refused',
      message:
        "GitHub's API cannot create the hook of an app. Set a webhook URL and a secret on the settings page of the app.",
    });
    answerRegistration();
    const [hookOfApp] = await client.listHooks();
    if (hookOfApp) expect((await failureOf(client.ping(hookOfApp))).code).toBe('refused');
    answerRegistration();
    const before = appApi.requests.length;
    expect((await failureOf(client.changeHook('app', { ...wanted, events: ['star'] }))).message).toBe(
      'GitHub\'s API cannot change the events of an app. Subscribe to star on the page "Permissions & events" of the app.',
    );
    expect(appApi.requests.slice(before).map(({ method }) => method)).toEqual(['GET']);
  });

  test('a token is refused by nobody whose clock is a minute behind', async () => {
    const { now } = appApi.clock;
    answerRegistration();
    expect(await create({ nowMs: () => now() + 55_000 }).listHooks()).toHaveLength(1);
  });

  test('a credential that is no private key is not shown', async () => {
    const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    for (const wrong of ['ghp_123456', ec.export({ type: 'pkcs8', format: 'pem' }).toString()]) {
      const failure = await failureOf(create({ credential: wrong }).listHooks());
      expect(failure.message).toMatch(/^The credential of the GitHub App is not an RSA private key\./);
      expect(inspect(failure)).not.toContain(wrong.slice(0, 40));
    }
  });
});

describe('a server that is not what it seems', () => {
  test('gets no further request when its link leads elsewhere', async () => {
    const elsewhere = await startReceiver((_request, response) => response.end('[]'));
    const server = await startReceiver(({ url }, response) =>
      response
        .writeHead(200, url?.includes('page=2') ? {} : { link: `<${elsewhere.url}?page=2>; rel="next"` })
        .end('[]'),
    );
    const url = new URL(server.url).origin;
    expect(await createClient({ url }).listHooks()).toEqual([]);
    expect(server.requests.map(request => request.url)).toEqual([
      '/api/v3/repos/acme/shop/hooks?per_page=100&page=1',
      '/api/v3/repos/acme/shop/hooks?per_page=100&page=2',
    ]);
    expect(elsewhere.requests).toEqual([]);
  });

  test('cannot make hookmill read pages without end', async () => {
    const server = await startReceiver(({ url = '' }, response) => {
      const page = Number(new URL(url, 'http://x').searchParams.get('page')) + 1;
      response.writeHead(200, { link: `<http://x/?page=${page}>; rel="next"` }).end('[]');
    });
    const failure = await failureOf(createClient({ url: new URL(server.url).origin }).listHooks());
    expect(failure).toMatchObject({ code: 'refused', message: 'GitHub lists more than 1000 hooks.' });
    expect(server.requests).toHaveLength(10);
  });

  test('sees its redirect refused, with a hint that the repository may have been renamed', async () => {
    const server = await startReceiver((_request, response) =>
      response.writeHead(301, { location: '/api/v3/repositories/1/hooks' }).end(),
    );
    const failure = await failureOf(createClient({ url: new URL(server.url).origin }).listHooks());
    expect(failure.code).toBe('refused');
    expect(failure.message).toMatch(
      /answered 301; redirects are not followed\. If the repository, .* renamed/,
    );
    expect(server.requests).toHaveLength(1);
  });

  test.each(['<html>', '{"id":1}', '[{"id":"1"}]'])('is not taken for GitHub: %s', async body => {
    const server = await startReceiver((_request, response) => response.end(body));
    const failure = await failureOf(createClient({ url: new URL(server.url).origin }).listHooks());
    expect(failure).toMatchObject({
      code: 'refused',
      message: "The answer is not one of GitHub's API. Check the url of the sender.",
    });
  });

  test.each([400, 401, 403, 404, 422, 429, 500])('has nothing of a credential shown: %i', async status => {
    const server = await startReceiver(({ headers }, response) => {
      const { authorization } = headers;
      const body = server.requests.at(-1)?.body.toString();
      response.writeHead(status).end(JSON.stringify({ message: authorization, errors: [{ message: body }] }));
    });
    const failure = await failureOf(createClient({ url: new URL(server.url).origin }).createHook(wanted));
    expect(failure.message).toContain('[hidden]');
    const shown = inspect(failure, { depth: 10 });
    for (const secret of ['github-token', wanted.secret]) expect(shown).not.toContain(secret);
  });
});

test.each(['..', '.', ''])('no name leads to another path: %j', async name => {
  const { github, create } = await start();
  const before = github.requests.length;
  const client = () => create({ target: { repository: `acme/${name}` } });
  expect(client).toThrow(ProviderError);
  const change = create().changeHook(name, wanted);
  expect((await failureOf(change)).message).toBe(`"${name}" is not a valid name or ID.`);
  expect(github.requests.length).toBe(before);
});

test.each([
  [undefined, 'https://api.github.com'],
  ['https://github.com/', 'https://api.github.com'],
  ['https://api.github.com', 'https://api.github.com'],
  ['https://octo.ghe.com', 'https://api.octo.ghe.com'],
  ['https://api.octo.ghe.com/', 'https://api.octo.ghe.com'],
  ['https://github.example.com', 'https://github.example.com/api/v3'],
  ['https://github.example.com/api/v3/', 'https://github.example.com/api/v3'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/api/v3'],
  ['https://github.com.example.com', 'https://github.com.example.com/api/v3'],
])('the API of %s is at %s', (url, expected) => {
  expect(resolveGitHubApi(url)).toBe(expected);
});

test('a GitHub Enterprise Server is asked in the version of the API that each of them has', async () => {
  const { github, create } = await start();
  await create().listHooks();
  expect(github.requests.at(-1)?.headers).toMatchObject({
    ...{ accept: 'application/vnd.github+json', 'user-agent': 'hookmill' },
    ...{ authorization: 'Bearer github-token', 'x-github-api-version': '2022-11-28' },
  });
});
