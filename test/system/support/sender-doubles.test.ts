import { createHmac } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { startReceiver } from '../../support/loopback-server.ts';
import { type GithubApi, type GithubSetup, startGithubApi } from '../../support/senders/github-api.ts';
import { type GitlabApi, startGitlabApi } from '../../support/senders/gitlab-api.ts';

interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: The tests compare it.
  readonly json: any;
}

async function send(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Sent> {
  const init = body
    ? { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } }
    : { headers };
  const response = await fetch(url, { method, ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}

function github(
  api: GithubApi,
  method: string,
  path: string,
  body?: object,
  token = 'github-token',
): Promise<Sent> {
  const headers = {
    ...{ accept: 'application/vnd.github+json', 'x-github-api-version': '2026-03-10', 'user-agent': 'test' },
    authorization: `Bearer ${token}`,
  };
  return send(path.startsWith('http') ? path : `${api.url}${path}`, method, headers, body);
}

function gitlab(
  api: GitlabApi,
  method: string,
  path: string,
  body?: object,
  token = 'gitlab-token',
): Promise<Sent> {
  return send(`${api.url}${path}`, method, { 'private-token': token }, body);
}

const hooks = '/repos/acme/shop/hooks';

async function startGithub(setup: GithubSetup = {}, status = 200) {
  const answer = { status };
  const receiver = await startReceiver(
    (_request, response) => void response.writeHead(answer.status).end('ok'),
  );
  const api = await startGithubApi(setup);
  const config = { url: receiver.url, content_type: 'json', secret: 's3cr3t' };
  const { id } = api.addHook('acme/shop', { config, events: ['issues'] });
  return { api, receiver, answer, config, id, hook: `${hooks}/${id}` };
}

test('GitHub: what the description does not allow is a violation', async () => {
  const { api, hook, config } = await startGithub();
  expect(await github(api, 'PATCH', `${hook}/config`, { contentType: 'json' })).toMatchObject({
    status: 422,
  });
  expect(await github(api, 'PATCH', hook, { events: 'push' })).toMatchObject({ status: 422 });
  expect(await github(api, 'GET', `${hooks}?perPage=5`)).toMatchObject({ status: 422 });
  expect(await github(api, 'GET', `${hook}/delivery`)).toMatchObject({ status: 404 });
  expect(await send(`${api.url}${hooks}`, 'GET', { authorization: 'Bearer github-token' })).toMatchObject({
    status: 400,
  });
  expect(api.violations.splice(0)).toEqual([
    `PATCH ${hook}/config: the body must NOT have additional properties (contentType)`,
    `PATCH ${hook}: the body/events must be array`,
    `GET ${hooks}: the query parameter perPage is not described`,
    `GET ${hook}/delivery: the description has no such operation`,
    `GET ${hooks}: Accept is not application/vnd.github+json`,
    `GET ${hooks}: X-GitHub-Api-Version is undefined`,
  ]);
  // A hook is a form that hears pushes unless it is told otherwise.
  const made = await github(api, 'POST', hooks, { config: { url: config.url } });
  expect(made).toMatchObject({ status: 201, json: { events: ['push'], config: { content_type: 'form' } } });
  expect(made.headers.get('location')).toBe(made.json.url);
  expect(await github(api, 'POST', hooks, { config: { url: config.url } })).toMatchObject({
    ...{ status: 422, json: { errors: [{ message: 'Hook already exists on this repository' }] } },
  });
  expect(await github(api, 'DELETE', `${hooks}/${made.json.id}`)).toMatchObject({ status: 204, text: '' });
  await api.settled();
});

test('GitHub: a secret is shown as a mask, which is a secret when it is sent, and a change without it removes it', async () => {
  const { api, hook, config } = await startGithub();
  const secret = () => api.hooks[0]?.config.secret;
  expect(await github(api, 'GET', hook)).toMatchObject({ json: { config: { secret: '********' } } });
  await github(api, 'PATCH', `${hook}/config`, { url: `${config.url}/new` });
  expect(secret()).toBe('s3cr3t');
  await github(api, 'PATCH', hook, { active: false });
  expect(secret()).toBe('s3cr3t');
  const shown = (await github(api, 'GET', hook)).json.config;
  await github(api, 'PATCH', hook, { config: shown });
  expect(secret()).toBe('********');
  const { secret: _mask, ...without } = shown;
  expect((await github(api, 'PATCH', hook, { config: without })).json.config).not.toHaveProperty('secret');
  expect(secret()).toBeUndefined();
});

test('GitHub: a redelivery has the same GUID and another ID, and goes to where the hook points now', async () => {
  const { api, receiver, answer, hook } = await startGithub({}, 500);
  const [failed] = await api.deliver('issues', 'opened', { issue: { number: 1 } });
  expect(failed).toMatchObject({ statusCode: 500, status: 'Invalid HTTP Response: 500', redelivery: false });
  answer.status = 202;
  await github(api, 'PATCH', `${hook}/config`, { url: `${receiver.url}/new`, secret: 'new' });
  const list = await github(api, 'GET', `${hook}/deliveries`);
  // As a number, the ID would be another one.
  const [id] = /(?<="id":)\d+/.exec(list.text) ?? [];
  expect(list.json[0].id.toString()).not.toBe(id);
  expect(await github(api, 'POST', `${hook}/deliveries/${list.json[0].id}/attempts`)).toMatchObject({
    status: 404,
  });
  expect(await github(api, 'POST', `${hook}/deliveries/${id}/attempts`)).toMatchObject({
    status: 202,
    json: {},
  });
  await api.settled();
  const [first, again] = receiver.requests;
  expect(again?.url).toBe('/runs/new');
  expect(again?.headers['x-github-delivery']).toBe(first?.headers['x-github-delivery']);
  const signature = createHmac('sha256', 'new')
    .update(again?.body ?? '')
    .digest('hex');
  expect(again?.headers['x-hub-signature-256']).toBe(`sha256=${signature}`);
  const after = await github(api, 'GET', `${hook}/deliveries`);
  expect(after.json).toMatchObject([
    { redelivery: true, status: 'OK', status_code: 202, guid: failed?.guid },
    { redelivery: false, status_code: 500, guid: failed?.guid },
  ]);
  // A failure that was made good is still among the failures.
  expect((await github(api, 'GET', `${hook}/deliveries?status=failure`)).json).toHaveLength(1);
  expect(await github(api, 'GET', `${hook}/deliveries/${id}`)).toMatchObject({
    json: { request: { headers: { 'X-GitHub-Event': 'issues' }, payload: { action: 'opened' } } },
  });
});

test('GitHub: 7,000 missed deliveries come in pages that do not move, for three days', async () => {
  const { api, hook } = await startGithub();
  api.deliverMany(7_000, 'issues', 'opened', { spanMs: 3_600_000 });
  api.deliverMany(1, 'push', null);
  const seen: string[] = [];
  let next: string | undefined = `${hook}/deliveries?per_page=100`;
  while (next) {
    const page: Sent = await github(api, 'GET', next);
    seen.push(...page.json.map(({ guid }: { guid: string }) => guid));
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    if (seen.length === 100) api.deliverMany(1, 'issues', 'closed');
  }
  expect(seen).toEqual(
    api.log
      .slice(0, 7_000)
      .map(({ guid }) => guid)
      .reverse(),
  );
  // Nothing that was never answered is a success or a failure.
  api.deliverMany(1, 'issues', 'opened', { statusCode: 0 });
  const statuses = await Promise.all(
    ['success', 'failure'].map(
      async status => (await github(api, 'GET', `${hook}/deliveries?status=${status}`)).json[0]?.status_code,
    ),
  );
  expect(statuses).toEqual([undefined, 502]);
  api.clock.advance(3 * 24 * 3_600_000);
  expect((await github(api, 'GET', `${hook}/deliveries`)).json).toEqual([]);
});

test('GitHub: a form, a ping and a form of its own signature', async () => {
  const { api, receiver } = await startGithub();
  const config = { url: receiver.url, secret: 's3cr3t' };
  const { json } = await github(api, 'POST', '/orgs/acme/hooks', { name: 'web', config, events: ['*'] });
  expect(json).not.toHaveProperty('last_response');
  await api.settled();
  expect(await github(api, 'POST', `/orgs/acme/hooks/${json.id}/pings`)).toMatchObject({ status: 204 });
  await api.settled();
  expect(receiver.requests).toHaveLength(2);
  const [ping] = receiver.requests;
  expect(ping?.headers).toMatchObject({
    ...{ 'x-github-event': 'ping', 'x-github-hook-id': String(json.id) },
    'x-github-hook-installation-target-type': 'organization',
    'content-type': 'application/x-www-form-urlencoded',
  });
  const text = ping?.body.toString() ?? '';
  expect(JSON.parse(new URLSearchParams(text).get('payload') ?? '')).toMatchObject({ hook_id: json.id });
  const signature = createHmac('sha256', 's3cr3t').update(text).digest('hex');
  expect(ping?.headers['x-hub-signature-256']).toBe(`sha256=${signature}`);
  // Two hooks that hear one event share its GUID.
  const [one, other] = await api.deliver('issues', 'opened', {});
  expect(one?.guid).toBe(other?.guid);
});

test('GitHub: tokens without the right permission, limits and outages', async () => {
  const { api, hook } = await startGithub({
    basePath: '/api/v3',
    tokens: {
      all: { kind: 'classic', scopes: ['admin:repo_hook'] },
      user: { kind: 'classic', scopes: ['public_repo'] },
      read: { kind: 'fine-grained', repositoryHooks: 'read' },
      other: { kind: 'fine-grained', repositoryHooks: 'write', grantedTo: ['acme/other'] },
    },
  });
  const statusOf = async (token: string, method = 'GET') =>
    (await github(api, method, hook, undefined, token)).status;
  expect(await statusOf('none')).toBe(401);
  expect(await statusOf('user')).toBe(404);
  expect(await statusOf('other')).toBe(404);
  expect(await statusOf('read')).toBe(200);
  const refused = await github(api, 'DELETE', hook, undefined, 'read');
  expect(refused).toMatchObject({
    status: 403,
    json: { message: 'Resource not accessible by personal access token' },
  });
  expect(refused.headers.get('x-accepted-github-permissions')).toBe('repository_hooks=write');
  api.setRateLimited({ kind: 'secondary', status: 429, retryAfterSeconds: 30 });
  expect((await github(api, 'GET', hook, undefined, 'all')).headers.get('retry-after')).toBe('30');
  api.clock.advance(30_000);
  expect(await statusOf('all')).toBe(200);
  api.failNext({ status: 503 });
  expect(await statusOf('all')).toBe(503);
  await api.setDown('refused');
  await expect(statusOf('all')).rejects.toThrow('fetch failed');
  await api.setDown(undefined);
  expect(await statusOf('all')).toBe(200);
});

test('GitHub: the primary limit ends at the time that each answer tells', async () => {
  const { api, hook } = await startGithub({ requestsPerHour: 1 });
  expect((await github(api, 'GET', hook)).headers.get('x-ratelimit-remaining')).toBe('0');
  const limited = await github(api, 'GET', hook);
  expect(limited.status).toBe(403);
  api.clock.set(Number(limited.headers.get('x-ratelimit-reset')) * 1000);
  expect(await github(api, 'GET', hook)).toMatchObject({ status: 200 });
});

test('GitHub: only the JWT of an app reads the log of its hook', async () => {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  const app = { id: 12, clientId: 'Iv23', publicKey, hook: { events: ['issues'] } };
  const { api } = await startGithub({ app });
  api.deliverMany(1, 'issues', 'opened', { installationId: 5 });
  const now = Math.floor(Date.now() / 1000);
  const sign = (claims: object, key = privateKey) =>
    new SignJWT({ iss: 'Iv23', iat: now - 60, exp: now + 300, ...claims })
      .setProtectedHeader({ alg: 'RS256' })
      .sign(key);
  const read = async (token: string) => await github(api, 'GET', '/app/hook/deliveries', undefined, token);
  expect(await read(await sign({}))).toMatchObject({ status: 200, json: [{ installation_id: 5 }] });
  expect(await read(await sign({ exp: now + 700 }))).toMatchObject({ status: 401 });
  expect(await read(await sign({ iat: now + 60 }))).toMatchObject({ status: 401 });
  expect(await read(await sign({ exp: now - 1 }))).toMatchObject({ status: 401 });
  expect(await read(await sign({}, (await generateKeyPair('RS256')).privateKey))).toMatchObject({
    status: 401,
  });
  expect(await read('github-token')).toMatchObject({ status: 401 });
});

async function startGitlab(status = 200) {
  const answer = { status };
  const receiver = await startReceiver(
    (_request, response) => void response.writeHead(answer.status).end('ok'),
  );
  const api = await startGitlabApi({
    tokens: {
      'gitlab-token': { user: 'root', scopes: ['api'], role: 'owner' },
      developer: { user: 'dev', scopes: ['api'], role: 'developer' },
      reader: { user: 'bot', scopes: ['read_api'], role: 'maintainer' },
    },
  });
  const { id } = api.addHook('acme/shop', { url: receiver.url, token: 's3cr3t' });
  return { api, receiver, answer, id, hook: `/projects/42/hooks/${id}` };
}

test('GitLab: what the description does not allow is a violation', async () => {
  const { api, hook, receiver } = await startGitlab();
  const { url } = receiver;
  expect(await gitlab(api, 'PUT', hook, { url, push_events: 'yes' })).toMatchObject({ status: 400 });
  expect(await gitlab(api, 'PUT', hook, { push_events: true })).toMatchObject({
    status: 400,
    json: { error: 'url is missing' },
  });
  expect(await gitlab(api, 'GET', `${hook}/events?per_page=100`)).toMatchObject({ status: 400 });
  expect(await gitlab(api, 'GET', '/projects/acme/shop/hooks')).toMatchObject({ status: 404 });
  expect(api.violations.splice(0)).toEqual([
    `PUT /api/v4${hook}: the body/push_events must be boolean`,
    `PUT /api/v4${hook}: the body must have required property 'url'`,
    `GET /api/v4${hook}/events: the query parameter per_page must be <= 20`,
    'GET /api/v4/projects/acme/shop/hooks: the description has no such operation',
  ]);
  const listed = await gitlab(api, 'GET', '/projects/acme%2Fshop/hooks');
  expect(listed.headers.get('x-total')).toBe('1');
  expect(listed.json).toMatchObject([
    { project_id: 42, push_events: true, alert_status: 'executable', disabled_until: null },
  ]);
  expect(listed.text).not.toContain('token"');
  expect(await gitlab(api, 'GET', hook, undefined, 'none')).toMatchObject({ status: 401 });
  expect(await gitlab(api, 'GET', hook, undefined, 'developer')).toMatchObject({ status: 403 });
  expect(await gitlab(api, 'DELETE', hook, undefined, 'reader')).toMatchObject({
    json: { error: 'insufficient_scope' },
  });
});

test('GitLab: another URL takes the token away unless it is sent too', async () => {
  const { api, hook, receiver } = await startGitlab();
  await gitlab(api, 'PUT', hook, { url: receiver.url, issues_events: true });
  expect(api.hooks[0]?.token).toBe('s3cr3t');
  await gitlab(api, 'PUT', hook, { url: `${receiver.url}/new`, token: 'new' });
  expect(api.hooks[0]?.token).toBe('new');
  await gitlab(api, 'PUT', hook, { url: receiver.url });
  expect(api.hooks[0]?.token).toBeUndefined();
});

test('GitLab: an event that is sent again has the same key, without addresses, five times a minute', async () => {
  const { api, hook, receiver, answer } = await startGitlab(500);
  await api.deliver('push_events', { object_kind: 'push', user_email: 'ada@example.com' });
  const { json } = await gitlab(api, 'GET', `${hook}/events?status=server_failure`);
  expect(json).toMatchObject([
    { trigger: 'push_hooks', response_status: '500', request_headers: { 'X-Gitlab-Token': '[REDACTED]' } },
  ]);
  answer.status = 204;
  const again = () => gitlab(api, 'POST', `${hook}/events/${json[0].id}/resend`);
  expect(await again()).toMatchObject({ status: 201, json: { response_status: 204 } });
  const [first, second] = receiver.requests;
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
  expect(second?.headers['x-gitlab-webhook-uuid']).not.toBe(first?.headers['x-gitlab-webhook-uuid']);
  expect(second?.headers).toMatchObject({ 'x-gitlab-token': 's3cr3t', 'x-gitlab-event': 'Push Hook' });
  expect(JSON.parse(second?.body.toString() ?? '')).toEqual({
    object_kind: 'push',
    user_email: '[REDACTED]',
  });
  await gitlab(api, 'PUT', hook, { url: `${receiver.url}/new`, token: 's3cr3t' });
  expect(await again()).toMatchObject({
    status: 422,
    json: { message: expect.stringContaining('URL has changed') },
  });
  for (let count = 2; count < 5; count += 1) expect(await again()).toMatchObject({ status: 422 });
  const limited = await again();
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
  api.clock.advance(60_000);
  expect(await again()).toMatchObject({ status: 422 });
  api.clock.advance(8 * 24 * 3_600_000);
  expect((await gitlab(api, 'GET', `${hook}/events`)).json).toEqual([]);
});

test('GitLab: a hook that keeps failing is disabled, gets nothing, and is enabled by a test', async () => {
  const { api, hook, receiver, answer } = await startGitlab(500);
  for (let count = 0; count < 6; count += 1) await api.deliver('push_events', { count });
  expect(receiver.requests).toHaveLength(4);
  expect((await gitlab(api, 'GET', hook)).json).toMatchObject({
    ...{ alert_status: 'temporarily_disabled', disabled_until: expect.any(String) },
  });
  const [event] = (await gitlab(api, 'GET', `${hook}/events`)).json;
  const again = await gitlab(api, 'POST', `${hook}/events/${event.id}/resend`);
  expect(again).toMatchObject({ status: 422, json: { message: 'Hook disabled' } });
  answer.status = 200;
  expect(await gitlab(api, 'POST', `${hook}/test/push_events`)).toMatchObject({ status: 201 });
  expect((await gitlab(api, 'GET', hook)).json).toMatchObject({ alert_status: 'executable' });
});

test('GitLab: pages by number move when something is added, and are not counted above 10,000', async () => {
  const { api, hook } = await startGitlab();
  api.deliverMany(10_000, 'push_events');
  const first = await gitlab(api, 'GET', `${hook}/events?per_page=20`);
  expect(first.headers.get('x-total')).toBe('10000');
  expect(first.headers.get('x-next-page')).toBe('2');
  api.deliverMany(1, 'push_events');
  const second = await gitlab(api, 'GET', `${hook}/events?per_page=20&page=2`);
  expect(second.json[0].id).toBe(first.json[19].id);
  expect(second.headers.get('x-total')).toBeNull();
  expect(second.headers.get('link')).not.toContain('rel="last"');
});
