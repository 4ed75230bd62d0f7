import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { homeAt } from '../../../../store/home/home.ts';
import { openLastingShop, openShop, type SenderShop, serverOf } from '../../../support/sender-shop.ts';
import { type GithubApi, startGithubApi } from '../../../support/senders/github-api.ts';
import { startGitlabApi } from '../../../support/senders/gitlab-api.ts';
import { factoryIn } from '../../../support/stored.ts';

let github: GithubApi;
let shop: SenderShop;
let stopped: Promise<void> | undefined;
beforeAll(async () => {
  github = await startGithubApi({ basePath: '/api/v3' });
  shop = await openLastingShop('github', github.url, { sender: { repository: 'acme/shop' } });
  await shop.register();
  await github.settled();
});
afterAll(() => stopped ?? shop.daemon.stop());

const secretOfHook = () => github.hooks[0]?.config.secret ?? '';

/** The status of a delivery that is signed with a secret, by GitHub's rule. */
async function deliver({ url }: SenderShop, secret: string): Promise<number> {
  const body = JSON.stringify({ at: performance.now() });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` };
  const event = { 'x-github-event': 'push', 'x-github-delivery': crypto.randomUUID() };
  return (await fetch(url, { method: 'POST', headers: { ...headers, ...event }, body })).status;
}

test('a rotation gives the webhook and the hook a new secret, and ends the old one', async () => {
  const env = await serverOf(shop);
  const first = secretOfHook();
  const rotate = (...args: string[]) =>
    shop.hookmill('senders', 'register', 'shop', '--rotate', ...args, { env });
  const declined = await rotate();
  expect(declined.exitCode).toBe(1);
  expect(declined.stderr).toContain('secret: set to a new value of SHOP_WEBHOOK');
  expect(secretOfHook()).toBe(first);
  const { exitCode, stdout, stderr } = await rotate('--yes');
  expect(exitCode, stderr).toBe(0);
  expect(stdout).toMatch(/✓ the ping was verified: dlv_\w+\nEnded the overlap of SHOP_WEBHOOK/);
  const next = secretOfHook();
  expect(next).toMatch(/^[\w-]{43}$/);
  expect(stdout + stderr).not.toContain(next);
  // As soon as the daemon has seen it.
  await expect.poll(() => deliver(shop, first)).toBe(401);
  expect(await deliver(shop, next)).toBe(202);
  // The files are still what is applied.
  expect((await shop.hookmill('plan')).stdout).toContain('No changes');
  const again = await rotate('--yes', '-o', 'json');
  expect(JSON.parse(again.stdout)).toMatchObject({
    verification: { result: 'verified' },
    rotation: { secretName: 'SHOP_WEBHOOK', until: null },
  });
  expect(secretOfHook()).not.toBe(next);
});

test('the old value stays valid if the ping is not verified with the new one, and the next rotation goes on', async () => {
  const [hook] = github.hooks;
  if (!hook) throw new Error('there is no hook');
  // A provider that keeps the secret that it has.
  let kept = hook.config;
  const secret = secretOfHook();
  Object.defineProperty(hook, 'config', {
    configurable: true,
    get: () => ({ ...kept, secret }),
    set: (given: typeof kept) => (kept = given),
  });
  const failed = await shop.hookmill('senders', 'register', 'shop', '--rotate', '--yes');
  expect(failed.exitCode).toBe(1);
  expect(failed.stderr).toMatch(/was refused \(it came with the previous value of the secret\)/);
  expect(failed.stderr).toMatch(
    /Both values of SHOP_WEBHOOK are valid until \S+\. To go on, run `hookmill senders register shop --rotate` again; to go back/,
  );
  expect(await deliver(shop, secret)).toBe(202);
  const given = kept.secret ?? '';
  expect(await deliver(shop, given)).toBe(202);
  Object.defineProperty(hook, 'config', { value: kept, writable: true, enumerable: true });
  const again = await shop.hookmill('senders', 'register', 'shop', '--rotate', '--yes');
  expect(again.exitCode, again.stderr).toBe(0);
  expect(again.stderr).toContain('SHOP_WEBHOOK has had a new value');
  expect(hook.config.secret).toBe(given);
  expect([await deliver(shop, secret), await deliver(shop, given)]).toEqual([401, 202]);
});

test('a rotation of a GitLab hook, whose secret is a token, is the same', async () => {
  const gitlab = await startGitlabApi();
  const given = { sender: { project: 'acme/shop' }, events: ['Push Hook'] };
  const other = await openShop('gitlab', gitlab.url, given);
  await other.register();
  const stdout = await other.register('--rotate');
  expect(stdout).toContain('Ended the overlap of SHOP_WEBHOOK');
  expect(gitlab.hooks[0]?.token).toMatch(/^[\w-]{43}$/);
});

test('a rotation is refused before it begins if others use the secret, or without a daemon', async () => {
  const rotate = (...args: string[]) => shop.hookmill('senders', 'register', 'shop', '--rotate', ...args);
  const secret = secretOfHook();
  await shop.hookmill('secrets', 'share', 'SHOP_WEBHOOK', '--all-factories');
  shop.workspace.write(
    'webhooks/other.yaml',
    'authMode: signature\nsignatureScheme: github\nsecretName: SHOP_WEBHOOK\n',
  );
  await shop.apply();
  // Before it asks.
  expect((await rotate()).stderr).toContain('SHOP_WEBHOOK is not only for this webhook, but also for: other');
  shop.workspace.remove('webhooks/other.yaml');
  await shop.apply();
  stopped = shop.daemon.stop();
  await stopped;
  expect((await rotate('--yes')).stderr).toContain('nothing was changed: no daemon answers at');
  const { name, store } = factoryIn(homeAt(shop.workspace.home), 'default', 10_000);
  const { value } = (await store.teamSecrets.open(['SHOP_WEBHOOK'], name)).get('SHOP_WEBHOOK') ?? {};
  expect(value?.text).toBe(secret);
  expect(secretOfHook()).toBe(secret);
});
