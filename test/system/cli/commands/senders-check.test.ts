import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLastingShop, openShop, type SenderShop } from '../../../support/sender-shop.ts';
import { type GithubApi, startGithubApi } from '../../../support/senders/github-api.ts';
import type { GithubHook } from '../../../support/senders/github-hooks.ts';
import { startGitlabApi } from '../../../support/senders/gitlab-api.ts';

const repository = { repository: 'acme/shop' };

describe('a hook of GitHub', () => {
  let github: GithubApi;
  let shop: SenderShop;
  beforeAll(async () => {
    github = await startGithubApi({ basePath: '/api/v3' });
    shop = await openLastingShop('github', github.url, { sender: repository });
  });
  afterAll(() => shop.daemon.stop());
  beforeEach(async () => {
    (github.hooks as GithubHook[]).splice(0);
    await shop.apply();
  });
  const addHook = (change: object = {}, config: object = {}) => {
    const right = { url: shop.url, content_type: 'json', insecure_ssl: '0', secret: shop.secret };
    return github.addHook('acme/shop', { events: ['push'], config: { ...right, ...config }, ...change });
  };

  test('check shows what differs at the provider, changes nothing there, and tells no secret', async () => {
    const asked = github.requests.length;
    const none = await shop.hookmill('senders', 'check');
    expect(none).toMatchObject({ exitCode: 1 });
    expect(none.stdout).toContain(`error: the provider has no hook with the URL ${shop.url}`);
    addHook({ active: false, events: ['issues'] }, { insecure_ssl: '1' });
    const wrong = await shop.hookmill('senders', 'check', 'shop');
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stdout).toMatch(/^shop: github repository acme\/shop at http:\S+ \(hook \d+, issues\)\n/);
    expect(wrong.stdout).toContain('error: the hook is not active');
    expect(wrong.stdout).toContain('error: automations wait for push, which the hook does not send');
    expect(wrong.stdout).toContain('warning: the provider does not verify the certificate');
    expect(github.requests.slice(asked).every(({ method }) => method === 'GET')).toBe(true);
    expect(wrong.stdout + wrong.stderr + none.stdout).not.toMatch(/github-token\b|a-secret-of-the-shop/);
  });

  test('check is content with a hook that is right, and the other commands say so without asking', async () => {
    addHook();
    const { stdout, exitCode } = await shop.hookmill('senders', 'check', 'shop');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('as its definition says');
    const asked = github.requests.length;
    expect((await shop.hookmill('senders')).stdout).toMatch(/^shop\s+github repository acme\/shop .* none$/m);
    expect((await shop.hookmill('status')).stdout).toMatch(/hook of shop\s+github .*: as defined$/m);
    expect((await shop.hookmill('webhooks', 'show', 'shop')).stdout).toContain('as its definition says');
    const { stdout: plan } = await shop.hookmill('plan');
    expect(plan).toContain('No changes');
    expect(github.requests.length).toBe(asked);
  });

  test('status, why, webhooks show and a plan say what the last check found', async () => {
    addHook({ active: false });
    await shop.hookmill('senders', 'check');
    const asked = github.requests.length;
    expect((await shop.hookmill('status')).stdout).toMatch(/hook of shop .*the hook is not active/);
    const why = await shop.hookmill('why', 'shop');
    expect(why.stdout).toMatch(/✗ sender\s+the hook is not active/);
    expect(why.stdout).toContain('hookmill senders register shop');
    expect((await shop.hookmill('webhooks', 'show', 'shop')).stdout).toContain(
      'error: the hook is not active',
    );
    // The plan judges the same facts by the definitions that it would apply.
    const filter = { webhook: 'shop', headers: { 'X-GitHub-Event': ['release'] } };
    const triggers = [{ provider: 'webhook', event: 'received', filter }];
    shop.workspace.write('automations/deploy.yaml', JSON.stringify({ prompt: 'Deploy.', triggers }));
    const plan = await shop.hookmill('plan');
    expect(plan.stderr + plan.stdout).toMatch(
      /webhooks\/shop\.yaml:1:\d+: warning: automations wait for release, which the hook does not send \(asked at \S+\) \[webhook\/sender-differs\]/,
    );
    expect(github.requests.length).toBe(asked);
  });

  test('no user, password or query of a hook that somebody else made is shown', async () => {
    const hook = addHook({}, { url: `https://me:pass@ci.example/webhooks/w/${shop.uid}?token=abc#x` });
    const shown = await shop.hookmill('senders', 'check', '-o', 'json');
    const url = `https://…@ci.example/webhooks/w/${shop.uid}?…`;
    expect(JSON.parse(shown.stdout)).toMatchObject([{ hooks: [{ id: String(hook.id), url }] }]);
    const planned = await shop.hookmill('senders', 'register', 'shop');
    expect(planned.stderr).toContain(`URL: ${url} → ${shop.url}`);
    const others = [await shop.hookmill('senders'), await shop.hookmill('why', 'shop')];
    const text = [shown, planned, ...others].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(text).not.toMatch(/pass|token=abc/);
  });

  test('a provider that is down is a note, beside what was last known', async () => {
    addHook();
    await shop.hookmill('senders', 'check');
    await github.setDown('error');
    const { stdout, exitCode } = await shop.hookmill('senders', 'check');
    await github.setDown(undefined);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/\(hook \d+, push\)\n {2}note: GitHub /);
  });

  test('a credential goes to no address that only a definition names', async () => {
    const elsewhere = await startGithubApi({ basePath: '/api/v3' });
    await shop.apply({ sender: { ...repository, url: elsewhere.url } });
    const asked = github.requests.length;
    const { stdout, exitCode } = await shop.hookmill('senders', 'check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('may not get a credential\n    The operator adds it to `senders.urls`');
    expect(elsewhere.requests).toEqual([]);
    expect(github.requests.length).toBe(asked);
  });

  test('a token without the right is named with the right that it needs', async () => {
    const set = (stdin: string) => shop.hookmill('secrets', 'set', 'HOOKS_TOKEN', { stdin });
    await set('no-such-token');
    const { stdout, exitCode } = await shop.hookmill('senders', 'check');
    await set('github-token');
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/warning: GitHub answered 401 .*\n.*HOOKS_TOKEN/);
  });

  test('the newest delivery shows whether the hook has another secret', async () => {
    addHook({}, { secret: 'another secret' });
    await github.deliver('push', null, { ref: 'main' });
    const { stdout, exitCode } = await shop.hookmill('senders', 'check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('error: the newest delivery was refused:');
  });
});

test('GitLab says until when it has disabled a hook', async () => {
  const gitlab = await startGitlabApi();
  const shop = await openShop('gitlab', gitlab.url, {
    ...{ sender: { project: 'acme/shop' }, events: ['Push Hook'] },
  });
  gitlab.addHook('acme/shop', { url: shop.url, token: 'another token', push_events: true });
  for (let attempt = 0; attempt < 4; attempt++) await gitlab.deliver('push_events', { attempt });
  const { stdout, exitCode } = await shop.hookmill('senders', 'check');
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/error: the provider has disabled the hook until \d{4}-/);
});
