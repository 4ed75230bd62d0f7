import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCallHere } from '../../../../cli/backend/call-here.ts';
import { toOwnBaseUrl } from '../../../../schema/ingress-url.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { openLastingShop, type SenderShop, serverOf, shopSecret } from '../../../support/sender-shop.ts';
import { type GithubApi, startGithubApi } from '../../../support/senders/github-api.ts';
import { type GitlabApi, startGitlabApi } from '../../../support/senders/gitlab-api.ts';
import { factoryIn } from '../../../support/stored.ts';

// Both begin each test without a hook.
let github: GithubApi;
let gitlab: GitlabApi;
let shop: SenderShop;
let gitlabShop: SenderShop;
beforeAll(async () => {
  github = await startGithubApi({ basePath: '/api/v3' });
  gitlab = await startGitlabApi();
  shop = await openLastingShop('github', github.url, { sender: { repository: 'acme/shop' } });
  const given = { sender: { project: 'acme/shop' }, events: ['Push Hook'] };
  gitlabShop = await openLastingShop('gitlab', gitlab.url, given);
});
afterAll(() => Promise.all([shop, gitlabShop].map(({ daemon }) => daemon.stop())));
beforeEach(() => {
  for (const hooks of [github.hooks, gitlab.hooks]) (hooks as unknown[]).splice(0);
  // The limit of pings is for each minute.
  gitlab.clock.advance(120_000);
});

function openFactory({ workspace }: SenderShop) {
  return factoryIn(homeAt(workspace.home), 'default', 10_000);
}

/** Calls operations on the home, as a command does. */
function callHere(shop: SenderShop, factory = openFactory(shop)) {
  const ownBaseUrl = toOwnBaseUrl(shop.daemon.ingressUrl);
  return createCallHere(factory, {
    ...{ baseUrl: ownBaseUrl, ownBaseUrl },
    findDaemonProblem: async () => null,
    findIngress: async () => null,
  });
}

/** Does something whenever a provider is about to have one more hook, before it answers. */
function beforeHook(hooks: readonly unknown[], act: () => unknown): void {
  const push = (...added: unknown[]) => {
    act();
    return Array.prototype.push.apply(hooks, added);
  };
  Object.defineProperty(hooks, 'push', { value: push, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(hooks, 'push'));
}

test('registers with --server as on a home, in JSON', async () => {
  const env = await serverOf(shop);
  const register = (...args: string[]) => shop.hookmill('senders', 'register', 'shop', ...args, { env });
  const declined = await register('-o', 'json');
  expect(declined).toMatchObject({ exitCode: 1, stdout: '' });
  expect(github.hooks).toEqual([]);
  const { stdout, exitCode } = await register('--yes', '-o', 'json');
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain(shopSecret);
  const [hook] = github.hooks;
  expect(hook?.config).toMatchObject({ url: shop.url, secret: shopSecret });
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ result: 'registered', action: 'create', webhook: 'shop', url: shop.url },
    hook: { id: String(hook?.id), events: ['push'], hasSecret: true },
    verification: { result: 'verified', delivery: expect.stringMatching(/^dlv_/) },
  });
  expect(JSON.parse((await register('--yes', '-o', 'json')).stdout)).toMatchObject({ result: 'unchanged' });
  const listed = JSON.parse((await shop.hookmill('senders', '-o', 'json')).stdout);
  expect(listed).toMatchObject([{ hooks: [{ id: String(hook?.id) }], findings: [] }]);
  const { entries } = await callHere(shop)('listAudit');
  const changes = entries.filter(({ operation }) => operation === 'registerSender');
  expect(changes).toMatchObject([{ subject: expect.stringContaining(`hook ${hook?.id}`) }]);
});

describe('the ping', () => {
  test('finds a provider that signs with another secret', async () => {
    const config = { url: `${shop.url}/`, content_type: 'json', secret: 'x' };
    const hook = github.addHook('acme/shop', { events: ['push'], config });
    // A provider that ignores the secret that it is given.
    let kept: object = hook.config;
    Object.defineProperty(hook, 'config', {
      get: () => ({ ...kept, secret: 'some other secret' }),
      set: (given: object) => (kept = given),
    });
    const { exitCode, stdout, stderr } = await shop.hookmill('senders', 'register', 'shop', '--yes');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`Changed hook ${hook.id} of`);
    expect(stderr).toMatch(/its ping was not verified: dlv_\w+ was refused \(.+\)\. Run `hookmill why dlv_/);
  });

  test('is told apart from what strangers send meanwhile', async () => {
    const strangers: Promise<Response>[] = [];
    beforeHook(github.hooks, () => strangers.push(fetch(shop.url, { method: 'POST', body: '{}' })));
    expect(await shop.register()).toContain('✓ the ping was verified');
    expect((await Promise.all(strangers)).map(({ status }) => status)).toEqual([401]);
  });

  test('cannot be verified without a daemon, which is said', async () => {
    const { daemon, hookmill } = await openLastingShop('github', github.url, {
      sender: { repository: 'acme/shop' },
    });
    await daemon.stop();
    const { exitCode, stderr } = await hookmill('senders', 'register', 'shop', '--yes');
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `no daemon answers at ${daemon.managementUrl}; start one with \`hookmill serve\``,
    );
    expect(github.hooks).toHaveLength(1);
  });
});

test('refuses to change a hook that changed since the changes were shown', async () => {
  const config = { url: `http://old.example/webhooks/w/${shop.uid}`, content_type: 'json', secret: 'x' };
  const hook = github.addHook('acme/shop', { events: ['push'], config });
  const call = callHere(shop);
  const registered = (await call('listAudit')).entries.filter(
    ({ operation }) => operation === 'registerSender',
  );
  const params = { uid: shop.uid };
  const { fingerprint } = await call('planSender', { params, body: {} });
  Object.assign(hook, { events: ['issues'] });
  const before = structuredClone(hook.config);
  const outdated = call('registerSender', { params, body: { fingerprint } });
  await expect(outdated).rejects.toMatchObject({ code: 'hook-changed' });
  const elsewhere = call('registerSender', { params, body: { fingerprint, events: ['issues'] } });
  await expect(elsewhere).rejects.toMatchObject({ code: 'hook-changed' });
  expect(hook).toMatchObject({ events: ['issues'], config: before });
  const { entries } = await call('listAudit');
  expect(entries.filter(({ operation }) => operation === 'registerSender')).toEqual(registered);
});

test('never makes a second hook after a command was killed, nor while it may still be at work', async () => {
  const child = gitlabShop.workspace.start(['senders', 'register', 'shop', '--yes']);
  beforeHook(gitlab.hooks, () => child.kill('SIGKILL'));
  expect(await child).toMatchObject({ signal: 'SIGKILL', stdout: '' });
  expect(gitlab.hooks).toHaveLength(1);
  const again = await gitlabShop.hookmill('senders', 'register', 'shop', '--yes');
  expect(again.exitCode).toBe(1);
  expect(again.stderr).toMatch(/another registration of this webhook began at \S+, by \w+; try again/);
  // A minute passes.
  const { name, store } = openFactory(gitlabShop);
  await store.senderStates.learn(name, gitlabShop.uid, state => {
    const { registering } = state;
    if (!registering) throw new Error('no registration is in progress');
    const at = new Date(Date.parse(registering.at) - 60_000).toISOString();
    return { ...state, registering: { ...registering, at } };
  });
  expect(await gitlabShop.register()).toContain('✓ the ping was verified');
  expect([...gitlab.hooks]).toMatchObject([{ url: gitlabShop.url, token: shopSecret }]);
});

test('lets one of two commands at once create the hook', async () => {
  const call = callHere(gitlabShop);
  const params = { uid: gitlabShop.uid };
  const { fingerprint } = await call('planSender', { params, body: {} });
  const body = { fingerprint };
  const { store, ...factory } = openFactory(gitlabShop);
  let other: Promise<string> | undefined;
  const isAtWork = async () =>
    (await store.senderStates.read(factory.name)).some(({ registering }) => registering !== null);
  const listDeliveries: typeof store.deliveries.listDeliveries = async filter => {
    // Another command comes between the last look of this one and its hook.
    if (!other && (await isAtWork())) {
      other = call('registerSender', { params, body }).then(
        () => 'registered',
        ({ code }) => code,
      );
      await other;
    }
    return store.deliveries.listDeliveries(filter);
  };
  const deliveries = { ...store.deliveries, listDeliveries };
  const first = callHere(gitlabShop, { ...factory, store: { ...store, deliveries } });
  expect(await first('registerSender', { params, body })).toMatchObject({ action: 'create' });
  expect(await other).toBe('sender-busy');
  expect(gitlab.hooks).toHaveLength(1);
});

test('looks again right before it creates a hook, which another command may have created meanwhile', async () => {
  const call = callHere(gitlabShop);
  const params = { uid: gitlabShop.uid };
  const { fingerprint } = await call('planSender', { params, body: {} });
  const body = { fingerprint };
  const { store, ...factory } = openFactory(gitlabShop);
  let isFirst = true;
  const learn: typeof store.senderStates.learn = async (...given) => {
    // Another command begins and ends, between the first look of this one and its turn.
    if (isFirst) await call('registerSender', { params, body });
    isFirst = false;
    return store.senderStates.learn(...given);
  };
  const late = callHere(gitlabShop, {
    ...factory,
    store: { ...store, senderStates: { ...store.senderStates, learn } },
  });
  await expect(late('registerSender', { params, body })).rejects.toMatchObject({ code: 'hook-changed' });
  expect(gitlab.hooks).toHaveLength(1);
});
