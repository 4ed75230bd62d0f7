import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  createGitLabClient,
  type GitLabClientOptions,
  gitLabEvents,
} from '../../../senders/gitlab-client.ts';
import type { ProviderClient, WantedHook } from '../../../senders/provider-client.ts';
import { startReceiver } from '../../support/loopback-server.ts';
import { failureOf } from '../../support/senders/failure-of.ts';
import { type GitlabSetup, startGitlabApi } from '../../support/senders/gitlab-api.ts';

const wanted: WantedHook = {
  url: 'https://hooks.example.com/webhooks/w/1',
  events: ['Merge Request Hook', 'Note Hook'],
  secret: 'hook-secret-5f3a',
  contentType: 'json',
};
const signingToken = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const tokens = {
  'gitlab-token': { user: 'root', scopes: ['api'], role: 'owner' },
  'read-only': { user: 'eve', scopes: ['read_api'], role: 'owner' },
  developer: { user: 'dev', scopes: ['api'], role: 'developer' },
  outsider: { user: 'out', scopes: ['api'], role: 'none' },
} as const;

async function start(setup: GitlabSetup = {}) {
  const gitlab = await startGitlabApi({ tokens, ...setup });
  const create = (given: Partial<GitLabClientOptions> = {}) =>
    createClient({ url: gitlab.url, nowMs: gitlab.clock.now, ...given });
  return { gitlab, create };
}

function createClient(given: Partial<GitLabClientOptions>) {
  return createGitLabClient({
    ...{ target: { project: 'acme/shop' }, credential: 'gitlab-token', isTrusted: true },
    ...{ stopping: new AbortController().signal, nowMs: Date.now, ...given },
  });
}

const startIngress = (status = 202) =>
  startReceiver((_request, response) => response.writeHead(status).end());

async function onlyHook(client: ProviderClient) {
  const [hook] = await client.listHooks();
  if (!hook) throw new Error('there is no hook');
  return hook;
}

describe.each([
  ['a project', { project: 'acme/shop' }, 'acme/shop'],
  ['a project by its ID', { project: 42 }, 'acme/shop'],
  ['a group', { group: 'acme' }, 'acme'],
] as const)('of %s', (_, target, owner) => {
  test('a new hook hears only what is wanted, although pushes are the default', async () => {
    const { gitlab, create } = await start();
    const hook = await create({ target }).createHook(wanted);
    expect(gitlab.hooks).toMatchObject([
      {
        owner: { path: owner },
        url: wanted.url,
        token: wanted.secret,
        fields: { enable_ssl_verification: true },
      },
    ]);
    expect([...(gitlab.hooks[0]?.events ?? [])]).toEqual(['merge_requests_events', 'note_events']);
    expect(hook).toEqual({
      ...{ id: String(gitlab.hooks[0]?.id), url: wanted.url, events: ['Merge Request Hook', 'Note Hook'] },
      ...{ isActive: true, disabledUntil: null, contentType: 'json', verifiesTls: true },
      ...{ hasSecret: true, lastAnswer: null },
    });
  });

  test('a changed hook still has its secret and all that hookmill does not manage', async () => {
    const { gitlab, create } = await start();
    const kept = {
      ...{ name: 'deploys', description: 'by Ada', custom_webhook_template: '{"event":"{{object_kind}}"}' },
      ...{ push_events_branch_filter: 'release/*', branch_filter_strategy: 'wildcard' },
    };
    const old = gitlab.addHook(owner, {
      ...{ ...kept, url: 'https://old.example.com/', token: 'old-secret', enable_ssl_verification: false },
      ...{ job_events: true, milestone_events: true },
    });
    const hook = await create({ target }).changeHook(String(old.id), wanted);
    expect(old).toMatchObject({
      ...{ url: wanted.url, token: wanted.secret },
      fields: { ...kept, enable_ssl_verification: true },
    });
    expect(hook).toMatchObject({ events: ['Merge Request Hook', 'Note Hook'], hasSecret: true });
  });

  test('all hooks are listed, on however many pages', async () => {
    const { gitlab, create } = await start();
    const urls = Array.from({ length: 140 }, (_item, index) => `https://${index}.example.com/`);
    for (const url of urls) gitlab.addHook(owner, { url });
    const hooks = await create({ target }).listHooks();
    expect(hooks.map(({ url }) => url)).toEqual(urls);
    expect(hooks[0]).toMatchObject({ events: ['Push Hook'], hasSecret: false });
  });

  test('an event is sent again under the same key', async () => {
    const { gitlab, create } = await start();
    const { requests, url } = await startIngress();
    const { id } = gitlab.addHook(owner, { url, token: 'secret' });
    const [missed] = gitlab.deliverMany(1, 'push_events');
    const client = create({ target });
    const { attempts } = await client.listAttempts(String(id), null);
    const key = missed?.requestHeaders['Idempotency-Key'];
    expect(attempts).toEqual([
      {
        ...{ id: String(missed?.id), eventId: key, event: 'Push Hook', action: null, status: null },
        ...{ atMs: missed?.createdAtMs, canRedeliver: true, payload: { number: 0 } },
      },
    ]);
    await client.redeliver(String(id), attempts[0]?.id ?? '');
    expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual([key]);
    // Both are in the log then: the newest first, and of the same event.
    const after = await client.listAttempts(String(id), null);
    expect(after.attempts).toMatchObject([
      { eventId: key, status: 202 },
      { eventId: key, status: null },
    ]);
  });

  test('a ping reaches the URL of the hook', async () => {
    const { gitlab, create } = await start();
    const { requests, url } = await startIngress();
    gitlab.addHook(owner, { url });
    const client = create({ target });
    await client.ping(await onlyHook(client));
    expect(requests.map(({ headers }) => headers['x-gitlab-event'])).toEqual(['Push Hook']);
  });
});

test('events are called as in the header of their deliveries', async () => {
  const { gitlab, create } = await start();
  const { requests, url } = await startIngress();
  for (const { key, header, of } of gitLabEvents) {
    const target = of === 'groups' ? { group: 'acme' } : { project: 'acme/shop' };
    const client = create({ target });
    const hook = await client.createHook({ ...wanted, url, events: [header] });
    expect(hook.events).toEqual([header]);
    await gitlab.deliver(key, {}, of === 'groups' ? 'acme' : 'acme/shop');
    expect(requests.at(-1)?.headers['x-gitlab-event']).toBe(header);
    const { attempts } = await client.listAttempts(hook.id, null);
    expect(attempts).toMatchObject([{ event: header, status: 202 }]);
  }
  expect(requests).toHaveLength(gitLabEvents.length);
});

describe('events that a hook cannot have are refused before anything is asked:', () => {
  test.each([
    ['Subgroup Hook', 'GitLab sends the event "Subgroup Hook" only to hooks of groups.'],
    ['push', 'GitLab has no event "push". Use a value of X-Gitlab-Event, such as "Push Hook".'],
  ])('%s', async (event, message) => {
    const { gitlab, create } = await start();
    const created = create().createHook({ ...wanted, events: ['Push Hook', event] });
    expect(await failureOf(created)).toMatchObject({ code: 'refused', message });
    expect(gitlab.requests).toEqual([]);
  });
});

/** A GitLab that knows more or less than the double, and keeps what it was sent. */
async function startOtherGitLab(hook: object) {
  const server = await startReceiver(({ method }, response) =>
    response.writeHead(method === 'DELETE' ? 204 : 200).end(JSON.stringify(hook)),
  );
  const bodies = () => server.requests.map(({ method, url, body }) => [method, url, `${body}`] as const);
  return { bodies, client: createClient({ url: new URL(server.url).origin }) };
}
const otherHook = { id: 7, url: wanted.url, enable_ssl_verification: true, alert_status: 'executable' };
const pathOfHooks = '/api/v4/projects/acme%2Fshop/hooks';

test('events that hookmill does not know are shown as the API calls them, and switched off by a change', async () => {
  const answer = { ...otherHook, note_events: true, merge_requests_events: true, wish_events: true };
  const { bodies, client } = await startOtherGitLab(answer);
  expect(await client.changeHook('7', wanted)).toMatchObject({
    events: ['Merge Request Hook', 'Note Hook', 'wish_events'],
  });
  const [, changed] = bodies();
  expect(changed?.slice(0, 2)).toEqual(['PUT', `${pathOfHooks}/7`]);
  expect(JSON.parse(changed?.[2] ?? '')).toMatchObject({
    note_events: true,
    push_events: false,
    wish_events: false,
  });
});

test('a hook is removed again if the instance ignores an event that it needs', async () => {
  const { bodies, client } = await startOtherGitLab({ ...otherHook, merge_requests_events: true });
  expect(await failureOf(client.createHook(wanted))).toMatchObject({
    code: 'refused',
    message: 'This GitLab instance ignores events: Note Hook. They need a later version or another licence.',
  });
  expect(bodies().map(([method, url]) => `${method} ${url}`)).toEqual([
    `POST ${pathOfHooks}`,
    `DELETE ${pathOfHooks}/7`,
  ]);
});

describe('a signing token', () => {
  const signed = { ...wanted, secret: signingToken };

  test('is set in place of the secret token', async () => {
    const { gitlab, create } = await start();
    const client = create({ secretKind: 'signing-token' });
    const hook = await client.createHook(signed);
    expect(gitlab.hooks).toMatchObject([{ token: undefined, signingToken }]);
    expect(hook.hasSecret).toBe(true);
    const changed = await client.changeHook(hook.id, { ...signed, url: 'https://new.example.com/' });
    expect(changed).toMatchObject({ url: 'https://new.example.com/', hasSecret: true });
    expect(gitlab.hooks).toMatchObject([{ signingToken }]);
    // A webhook with a secret token sees that there is none.
    expect(await onlyHook(create())).toMatchObject({ hasSecret: false });
  });

  test('is refused by an instance that would ignore it, and no hook stays that does not sign', async () => {
    const { gitlab, create } = await start({ isOlder: true });
    const client = create({ secretKind: 'signing-token' });
    const message =
      'This GitLab instance ignores signing tokens. Use GitLab 19.0 or later, or the scheme gitlab-token.';
    expect(await failureOf(client.createHook(signed))).toMatchObject({ code: 'refused', message });
    expect(gitlab.hooks).toEqual([]);
    const { id } = gitlab.addHook('acme/shop', { url: wanted.url });
    expect(await failureOf(client.changeHook(String(id), signed))).toMatchObject({
      code: 'refused',
      message,
    });
    expect(await onlyHook(client)).toMatchObject({ hasSecret: null });
  });
});

describe('attempts', () => {
  test('are listed page by page, the newest first, with their payloads', async () => {
    const { gitlab, create } = await start();
    const { id } = gitlab.addHook('acme/shop', { url: wanted.url, issues_events: true, push_events: false });
    const missed = gitlab.deliverMany(45, 'issues_events', {
      payload: index => ({ index, object_attributes: { action: 'open' } }),
    });
    const client = create();
    const indexes: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page = await client.listAttempts(String(id), cursor);
      expect(page.attempts.length).toBeLessThanOrEqual(20);
      expect(page.attempts[0]).toMatchObject({ event: 'Issue Hook', action: 'open' });
      indexes.push(...page.attempts.map(({ payload }) => (payload as { index: number }).index));
      cursor = page.next;
    } while (cursor !== null);
    expect(indexes).toEqual(missed.map((_event, index) => index).reverse());
    expect(gitlab.requests.some(({ query }) => query.has('status'))).toBe(false);
  });

  test('with long payloads are all listed, in smaller pages', async () => {
    const { gitlab, create } = await start();
    const { id } = gitlab.addHook('acme/shop', { url: wanted.url });
    const missed = gitlab.deliverMany(24, 'push_events', {
      payload: () => ({ text: 'x'.repeat(1_500_000) }),
    });
    const client = create();
    const ids: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await client.listAttempts(String(id), cursor);
      ids.push(...page.attempts.map(attempt => attempt.id));
      cursor = page.next;
    } while (cursor !== null);
    expect(ids).toEqual(missed.map(event => String(event.id)).reverse());
    const sizes = gitlab.requests.map(({ query }) => query.get('per_page'));
    expect(sizes.slice(0, 2)).toEqual(['20', '5']);
  });

  test('whose payload GitLab has lost are not to be sent again', async () => {
    const { gitlab, create } = await start();
    const { id } = gitlab.addHook('acme/shop', { url: wanted.url });
    gitlab.deliverMany(1, 'push_events', { payload: () => ({ oversize: true }) });
    const { attempts } = await create().listAttempts(String(id), null);
    expect(attempts).toMatchObject([{ event: 'Push Hook', canRedeliver: false }]);
    expect(attempts[0]).not.toHaveProperty('payload');
  });

  test('of a version that does not say when they were are refused', async () => {
    const { gitlab, create } = await start({ isOlder: true });
    const { id } = gitlab.addHook('acme/shop', { url: wanted.url });
    gitlab.deliverMany(1, 'push_events');
    expect(await failureOf(create().listAttempts(String(id), null))).toMatchObject({
      message: 'This GitLab instance does not say when it sent an event. Use a later version.',
    });
  });

  test.each(['x', '-20', '1.5', '7e1'])('do not begin at the cursor %s, which no page had', async cursor => {
    const { gitlab, create } = await start();
    expect((await failureOf(create().listAttempts('1', cursor))).code).toBe('refused');
    expect(gitlab.requests).toEqual([]);
  });
});

describe('an event is not sent again', () => {
  test('more than five times a minute, and the wait is told', async () => {
    const { gitlab, create } = await start();
    const { url } = await startIngress();
    const { id } = gitlab.addHook('acme/shop', { url });
    const missed = gitlab.deliverMany(6, 'push_events');
    const client = create();
    const redeliver = (index: number) => client.redeliver(String(id), String(missed[index]?.id));
    for (const index of [0, 1, 2, 3, 4]) await redeliver(index);
    expect(await failureOf(redeliver(5))).toMatchObject({
      ...{ code: 'rate-limited', retryAfterMs: 60_000 },
      message: expect.stringMatching(
        /requested too many times.* The rate limit is reached\. Try again in 60 s\.$/,
      ),
    });
    gitlab.clock.advance(61_000);
    await redeliver(5);
  });

  test('if the URL of the hook was changed since, with the reason', async () => {
    const { gitlab, create } = await start();
    const { id } = gitlab.addHook('acme/shop', { url: 'https://old.example.com/' });
    const [missed] = gitlab.deliverMany(1, 'push_events');
    const client = create();
    await client.changeHook(String(id), wanted);
    expect(await failureOf(client.redeliver(String(id), String(missed?.id)))).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('(The hook URL has changed, and this log entry cannot be retried)'),
    });
  });

  test('while GitLab has disabled the hook, until a ping is accepted', async () => {
    const { gitlab, create } = await start();
    let status = 500;
    const { url } = await startReceiver((_request, response) => response.writeHead(status).end());
    const { id } = gitlab.addHook('acme/shop', { url });
    for (let failures = 0; failures < 4; failures++) await gitlab.deliver('push_events', {});
    const client = create();
    const disabled = await onlyHook(client);
    expect(disabled).toMatchObject({ isActive: false, disabledUntil: expect.stringMatching(/Z$/) });
    const again = () => client.redeliver(String(id), String(gitlab.log[0]?.id));
    expect(await failureOf(again())).toMatchObject({
      code: 'refused',
      message: expect.stringContaining('(Hook disabled)'),
    });
    status = 202;
    await client.ping(disabled);
    expect(await onlyHook(client)).toMatchObject({ isActive: true, disabledUntil: null });
    await again();
  });
});

describe('a ping', () => {
  const noSample = (what: string) => ({ status: 422, body: { message: `Ensure the project has ${what}.` } });

  test('sends a sample of another event of the hook if the project has no push', async () => {
    const { gitlab, create } = await start();
    const { requests, url } = await startIngress();
    gitlab.addHook('acme/shop', { url, push_events: false, note_events: true, member_events: true });
    const client = create();
    const hook = await onlyHook(client);
    gitlab.failNext(noSample('at least one commit'));
    await client.ping(hook);
    expect(requests.map(({ headers }) => headers['x-gitlab-event'])).toEqual(['Note Hook']);
  });

  test('gives up after three samples, and tells the reason of each', async () => {
    const { gitlab, create } = await start();
    const events = { issues_events: true, note_events: true, job_events: true };
    gitlab.addHook('acme/shop', { url: wanted.url, ...events });
    const client = create();
    const hook = await onlyHook(client);
    for (const what of ['commits', 'issues', 'notes']) gitlab.failNext(noSample(what));
    const failure = await failureOf(client.ping(hook));
    expect(failure.code).toBe('refused');
    for (const what of ['commits', 'issues', 'notes']) expect(failure.message).toContain(`has ${what}.`);
    expect(gitlab.requests.filter(({ path }) => path.includes('/test/'))).toHaveLength(3);
  });

  test('that the ingress refuses is told', async () => {
    const { gitlab, create } = await start();
    const { url } = await startReceiver((_request, response) => response.writeHead(401).end('wrong token'));
    gitlab.addHook('acme/shop', { url });
    const client = create();
    const failure = await failureOf(client.ping(await onlyHook(client)));
    expect(failure).toMatchObject({ code: 'refused', message: expect.stringContaining('(wrong token)') });
  });

  test('tries no further sample once the rate limit is reached', async () => {
    const { gitlab, create } = await start();
    gitlab.addHook('acme/shop', { url: wanted.url, note_events: true });
    const client = create();
    const hook = await onlyHook(client);
    gitlab.setRateLimited({ retryAfterSeconds: 17 });
    expect(await failureOf(client.ping(hook))).toMatchObject({ code: 'rate-limited', retryAfterMs: 17_000 });
    expect(gitlab.requests.filter(({ path }) => path.includes('/test/'))).toHaveLength(1);
  });
});

describe('a credential without a right is told which one it needs:', () => {
  test.each([
    [
      'read-only',
      'forbidden',
      /\(insufficient_scope; The request requires higher .*\)\. The credential needs the scope api/,
    ],
    [
      'developer',
      'forbidden',
      /The credential needs the scope api, and the role Maintainer in the project\.$/,
    ],
    [
      'outsider',
      'not-found',
      /\(404 Project Not Found\)\. Check the name\. GitLab also answers 404 if .* Maintainer/,
    ],
    ['revoked', 'forbidden', /\(401 Unauthorized\)\. The credential is wrong, expired or revoked\.$/],
  ] as const)('%s', async (credential, code, message) => {
    const { create } = await start();
    const failure = await failureOf(create({ credential }).createHook(wanted));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(message);
  });

  test('of a group, Owner', async () => {
    const { create } = await start();
    const client = create({ target: { group: 'acme' }, credential: 'developer' });
    expect((await failureOf(client.listHooks())).message).toMatch(/the role Owner in the group\.$/);
  });
});

test.each(['refused', 'error'] as const)('GitLab is unreachable while it is down: %s', async outage => {
  const { gitlab, create } = await start();
  await gitlab.setDown(outage);
  expect((await failureOf(create().listHooks())).code).toBe('unreachable');
});

test('a URL that GitLab refuses is told with what GitLab says', async () => {
  const { create } = await start();
  const failure = await failureOf(create().createHook({ ...wanted, url: 'nonsense' }));
  expect(failure).toMatchObject({ code: 'refused', message: expect.stringContaining('(Invalid url given)') });
});

test('GitLab may be below a path of its host', async () => {
  const { gitlab, create } = await start({ relativeUrl: '/gitlab' });
  gitlab.addHook('acme/shop', { url: wanted.url });
  const below = gitlab.url.replace('/api/v4', '');
  for (const url of [below, `${below}/`, gitlab.url])
    expect(await create({ url }).listHooks()).toHaveLength(1);
  expect(gitlab.requests[0]).toMatchObject({
    path: '/gitlab/api/v4/projects/acme%2Fshop/hooks',
    headers: { 'private-token': 'gitlab-token', 'user-agent': 'hookmill' },
  });
});

test('texts about attributes are passed on, and nothing of a credential', async () => {
  const server = await startReceiver((_request, response) => {
    const [sent] = server.requests.slice(-1);
    const url = ['is blocked: Host cannot be resolved', sent?.headers['private-token'], `${sent?.body}`];
    response.writeHead(400).end(JSON.stringify({ message: { url } }));
  });
  const failure = await failureOf(createClient({ url: new URL(server.url).origin }).createHook(wanted));
  expect(failure.message).toContain('(url: is blocked: Host cannot be resolved; url: [hidden]; ');
  for (const secret of ['gitlab-token', wanted.secret])
    expect(inspect(failure, { depth: 10 })).not.toContain(secret);
});
