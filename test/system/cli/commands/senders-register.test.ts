import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openLastingShop, type SenderShop, shopSecret } from '../../../support/sender-shop.ts';
import { type GithubApi, startGithubApi } from '../../../support/senders/github-api.ts';
import type { GithubHook } from '../../../support/senders/github-hooks.ts';
import { type GitlabApi, startGitlabApi } from '../../../support/senders/gitlab-api.ts';
import type { GitlabHook } from '../../../support/senders/gitlab-hooks.ts';

const repository = { repository: 'acme/shop' };
const project = { project: 'acme/shop' };

async function openGithub() {
  const tokens = {
    'github-token': { kind: 'classic', scopes: ['repo', 'admin:repo_hook', 'admin:org_hook'] },
    'reading-token': { kind: 'fine-grained', repositoryHooks: 'read' },
  } as const;
  const github = await startGithubApi({ basePath: '/api/v3', tokens });
  return { github, shop: await openLastingShop('github', github.url, { sender: repository }) };
}

async function openGitlab() {
  const gitlab = await startGitlabApi();
  const given = { sender: project, events: ['Push Hook'] };
  return { gitlab, shop: await openLastingShop('gitlab', gitlab.url, given) };
}

/** The requests that change something at the provider. */
function writesOf({ requests }: GithubApi | GitlabApi) {
  const isPing = (path: string) => path.endsWith('/pings') || path.includes('/test/');
  return requests.filter(({ method, path }) => method !== 'GET' && !isPing(path));
}

function expectNoSecret(...texts: readonly string[]) {
  for (const text of texts) {
    expect(text).not.toContain(shopSecret);
    expect(text).not.toMatch(/git(hub|lab)-token\b/);
  }
}

/** Registers, and requires that what the provider then sends by itself is verified, and that nothing is left to change. */
async function registerWhole(shop: SenderShop, api: GithubApi | GitlabApi, deliver: () => Promise<unknown>) {
  const stdout = await shop.register();
  expect(stdout).toMatch(/✓ the ping was verified: dlv_\w{26}\n$/);
  expectNoSecret(stdout);
  await api.settled();
  await deliver();
  expect(await newestOutcome(shop)).toBe('Accepted');
  const writes = writesOf(api).length;
  expect(await shop.register()).toMatch(/^Nothing to change: hook \d+ of git/);
  expect(writesOf(api).length).toBe(writes);
  return stdout;
}

async function newestOutcome(shop: SenderShop): Promise<string> {
  const { stdout } = await shop.hookmill('deliveries', 'list', '--limit', '1', '-o', 'json');
  const [newest] = JSON.parse(stdout) as [{ readonly outcome: string }];
  return newest.outcome;
}

/** Shops for all tests, which begin without a hook and leave the secret and the credential as they were. */
let ofGithub: Awaited<ReturnType<typeof openGithub>>;
let ofGitlab: Awaited<ReturnType<typeof openGitlab>>;
beforeAll(async () => {
  ofGithub = await openGithub();
  ofGitlab = await openGitlab();
});
afterAll(() => Promise.all([ofGithub, ofGitlab].map(({ shop }) => shop.daemon.stop())));
beforeEach(async () => {
  (ofGithub.github.hooks as GithubHook[]).splice(0);
  (ofGitlab.gitlab.hooks as GitlabHook[]).splice(0);
  await ofGithub.shop.apply();
});

describe('creates the hook of', () => {
  test.for([
    ['a GitHub repository', repository],
    ['a GitHub organization', { organization: 'acme' }],
  ] as const)('%s', async ([, sender]) => {
    const { github, shop } = ofGithub;
    await shop.apply({ sender, events: ['release', 'push', 'ping'] });
    const deliver = () => github.deliver('push', null, { ref: 'main' });
    const stdout = await registerWhole(shop, github, deliver);
    expect(stdout).toContain(`    events: push, release\n`);
    expect(stdout).toContain('    secret: set to the value of SHOP_WEBHOOK\n');
    const config = { url: shop.url, content_type: 'json', insecure_ssl: '0', secret: shopSecret };
    expect(github.hooks).toMatchObject([{ active: true, events: ['push', 'release'], config }]);
  });

  test.for([
    ['a GitLab project', project],
    ['a GitLab group', { group: 'acme' }],
  ] as const)('%s', async ([, sender]) => {
    const { gitlab, shop } = ofGitlab;
    await shop.apply({ sender, events: ['Push Hook', 'Issue Hook'] });
    await registerWhole(shop, gitlab, () => gitlab.deliver('issues_events', { object_kind: 'issue' }));
    expect(gitlab.hooks).toMatchObject([{ url: shop.url, token: shopSecret }]);
    expect([...(gitlab.hooks[0]?.events ?? [])].sort()).toEqual(['issues_events', 'push_events']);
  });

  test('a webhook that takes forms', async () => {
    const webhook = { bodyFormat: 'form', payloadField: 'payload' };
    const { github, shop } = ofGithub;
    await shop.apply({ sender: repository, webhook });
    await registerWhole(shop, github, () => github.deliver('push', null, { ref: 'main' }));
    expect(github.hooks).toMatchObject([{ config: { content_type: 'form' } }]);
  });
});

test('a base URL that only a checkout names is printed, but no hook leads there, and no check compares with it', async () => {
  const { github, shop } = ofGithub;
  shop.workspace.write('hookmill.yaml', 'baseUrl: https://hooks.attacker.example\n');
  onTestFinished(() => shop.workspace.write('hookmill.yaml', 'factory: default\n'));
  expect((await shop.hookmill('webhooks', 'list')).stdout).toContain('https://hooks.attacker.example/');
  const registered = await shop.register();
  expect(github.hooks).toMatchObject([{ config: { url: shop.url } }]);
  const { stdout, exitCode } = await shop.hookmill('senders', 'check', '-o', 'json');
  expect({ exitCode, url: JSON.parse(stdout)[0].url }).toEqual({ exitCode: 0, url: shop.url });
  expect(registered + stdout).not.toContain('attacker');
});

test('corrects whatever differs of a GitHub hook, and never sends the mask as its secret', async () => {
  const { github, shop } = ofGithub;
  const before = writesOf(github).length;
  const right = { url: shop.url, content_type: 'json', insecure_ssl: '0', secret: shopSecret };
  const hook = github.addHook('acme/shop', { events: ['push'], config: right });
  const drifts: readonly [change: string, drift: () => void][] = [
    ['URL: http://old.example', () => setConfig({ url: `http://old.example/webhooks/w/${shop.uid}` })],
    ['content type: form → json', () => setConfig({ content_type: 'form' })],
    ['TLS verification: off → on', () => setConfig({ insecure_ssl: '1' })],
    ['secret: none → set', () => setConfig({ secret: undefined })],
    ['secret: set to the value of SHOP_WEBHOOK', () => setConfig({ secret: 'some other secret' })],
    ['events: issues, push → push', () => Object.assign(hook, { events: ['issues', 'push'] })],
    ['events: * → push', () => Object.assign(hook, { events: ['*'] })],
    ['active: no → yes', () => Object.assign(hook, { active: false })],
  ];
  const setConfig = (change: object) =>
    Object.assign(hook, { config: JSON.parse(JSON.stringify({ ...right, ...change })) });
  for (const [change, drift] of drifts) {
    drift();
    // What is signed with another secret shows by what was refused. It is answered before its row is there.
    if (change.startsWith('secret: set')) {
      await github.deliver('push', null, {});
      await expect.poll(() => newestOutcome(shop)).toBe('Rejected (auth)');
    }
    const stdout = await registerWhole(shop, github, () => github.deliver('push', null, { change }));
    expect(stdout).toContain(`    ${change}`);
    expect(github.hooks).toEqual([hook]);
    expect(hook).toMatchObject({ active: true, events: ['push'], config: right });
  }
  const writes = writesOf(github).slice(before);
  expect(writes).toHaveLength(drifts.length);
  for (const { body } of writes) expect(JSON.parse(`${body}`).config.secret).toBe(shopSecret);
});

test('corrects whatever differs of a GitLab hook, whose secret another URL would reset', async () => {
  const { gitlab, shop } = ofGitlab;
  await shop.apply();
  const other = `http://old.example/webhooks/w/${shop.uid}`;
  const hook = gitlab.addHook('acme/shop', { url: other, token: shopSecret, push_events: true });
  const drifts: readonly [change: string, drift: () => void][] = [
    [`URL: ${other} →`, () => undefined],
    ['TLS verification: off → on', () => (hook.fields = { ...hook.fields, enable_ssl_verification: false })],
    ['events: Issue Hook → Push Hook', () => (hook.events = new Set(['issues_events']))],
    ['active: no → yes', () => (hook.recentFailures = 40)],
  ];
  for (const [change, drift] of drifts) {
    drift();
    // The limit of pings is for each minute.
    gitlab.clock.advance(120_000);
    const stdout = await registerWhole(shop, gitlab, () => gitlab.deliver('push_events', { change }));
    expect(stdout).toContain(`    ${change}`);
    expect(gitlab.hooks).toEqual([hook]);
    expect(hook).toMatchObject({ url: shop.url, token: shopSecret, recentFailures: 0 });
  }
});

describe('changes nothing and says why', () => {
  /** Tries to register, which must fail with the message and change nothing. */
  async function refuse(shop: SenderShop, api: GithubApi | GitlabApi, ...args: readonly string[]) {
    const before = writesOf(api);
    const { exitCode, stdout, stderr } = await shop.hookmill('senders', 'register', 'shop', ...args);
    expect(exitCode, stdout + stderr).toBe(1);
    expect(writesOf(api)).toEqual(before);
    expectNoSecret(stdout, stderr);
    return stderr;
  }

  test('if nobody can confirm', async () => {
    const { github, shop } = ofGithub;
    const stderr = await refuse(shop, github);
    expect(stderr).toContain('+ new hook of github repository acme/shop');
    expect(stderr).toContain('nothing was changed at the provider: confirm at the prompt or use --yes');
  });

  test('if two hooks send to the webhook, or the definition names one that is not there', async () => {
    const { github, shop } = ofGithub;
    const config = { url: shop.url, content_type: 'json', secret: shopSecret };
    const one = github.addHook('acme/shop', { events: ['push'], config });
    const two = github.addHook('acme/shop', { events: ['issues'], config });
    const message = `2 hooks of github repository acme/shop at ${new URL(github.url).origin} send to the webhook shop: ${one.id}, ${two.id}; delete all but one`;
    expect(await refuse(shop, github, '--yes')).toContain(message);
    await shop.apply({ sender: { ...repository, hookId: one.id } });
    expect(await refuse(shop, github, '--yes')).toContain('2 hooks of');
    await shop.apply({ sender: { ...repository, hookId: 7 } });
    expect(await refuse(shop, github, '--yes')).toContain('has no hook 7; remove hookId from `sender`');
  });

  test('if the definition names a hook of something else, unless the operator takes that over', async () => {
    const { github, shop } = ofGithub;
    const config = { url: 'https://deploys.example.com/hook?token=abc', content_type: 'json' };
    const other = github.addHook('acme/shop', { events: ['push'], config });
    await shop.apply({ sender: { ...repository, hookId: other.id } });
    const stderr = await refuse(shop, github, '--yes');
    expect(stderr).toContain(`the hook ${other.id} of github repository acme/shop`);
    expect(stderr).toContain('sends to https://deploys.example.com/hook');
    expect(stderr).toContain('Use --take-over');
    expect(stderr).not.toContain('abc');
    const listed = async () => (await shop.hookmill('secrets', 'list', '-o', 'json')).stdout;
    const before = await listed();
    expect(await refuse(shop, github, '--yes', '--rotate')).toContain('Use --take-over, without --rotate');
    expect(await listed()).toBe(before);
    expect(github.hooks).toMatchObject([{ config: { url: config.url } }]);
    await shop.register('--take-over');
    expect(github.hooks).toMatchObject([{ id: other.id, config: { url: shop.url } }]);
  });

  test('if no automation says which events are needed, until somebody names them', async () => {
    const { github, shop } = ofGithub;
    await shop.apply({ sender: repository, events: null });
    expect(await refuse(shop, github, '--yes')).toContain('name them with --event, or filter by the header');
    await shop.register('--event', 'push', '--event', 'issues');
    expect(github.hooks).toMatchObject([{ events: ['issues', 'push'] }]);
    // Its own events stay.
    expect(await shop.register()).toContain('Nothing to change');
    await shop.register('--event', '*');
    expect(github.hooks).toMatchObject([{ events: ['*'] }]);
  });

  test('if the webhook has no secret, a newer one than it uses, or is disabled', async () => {
    const { github, shop } = ofGithub;
    const set = (stdin: string) => shop.hookmill('secrets', 'set', 'SHOP_WEBHOOK', { stdin });
    await set('another-secret-of-the-shop');
    const newer = await refuse(shop, github, '--yes');
    expect(newer).toContain(
      'SHOP_WEBHOOK has a newer value than the webhook shop uses. Run `hookmill apply`',
    );
    expect(newer).not.toContain('another-secret');
    await shop.apply({ sender: repository, webhook: { enabled: false } });
    expect(await refuse(shop, github, '--yes')).toContain('the webhook shop is disabled');
    await shop.hookmill('secrets', 'declare', 'DECLARED');
    await shop.apply({ sender: repository, webhook: { secretName: 'DECLARED' } });
    expect(await refuse(shop, github, '--yes')).toContain(
      'create one with `hookmill secrets generate DECLARED`',
    );
    await shop.apply();
    await shop.register();
    expect(github.hooks).toMatchObject([{ config: { secret: 'another-secret-of-the-shop' } }]);
    await set(shopSecret);
  });

  test('if the credential may not change hooks', async () => {
    const { github, shop } = ofGithub;
    const set = (stdin: string) => shop.hookmill('secrets', 'set', 'HOOKS_TOKEN', { stdin });
    await set('reading-token');
    const { exitCode, stderr } = await shop.hookmill('senders', 'register', 'shop', '--yes');
    await set('github-token');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The credential needs the repository permission "Webhooks" (read, or write');
    expect(github.hooks).toEqual([]);
  });

  test('if the provider cannot reach the ingress', async () => {
    const { github, shop } = ofGithub;
    await shop.apply({ sender: { ...repository, url: undefined } });
    const asked = github.requests.length;
    const stderr = await refuse(shop, github, '--yes');
    expect(stderr).toContain(`the ingress URL ${shop.url} cannot be reached by github; set --base-url`);
    expect(github.requests.length).toBe(asked);
  });
});
