import { expect } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { SenderStates } from '../../store/ports/daemon-records.ts';
import { eventually } from '../support/eventually.ts';
import { startGithubApi } from '../support/senders/github-api.ts';
import { storeIn } from '../support/stored.ts';
import {
  addSettings,
  browserTest,
  chooseFromMenu,
  clipboardOf,
  type Dashboard,
  openDashboard,
  openNewWebhook,
  textOf,
} from './browser.ts';
import { automate, createWebhook, deliver, post, waitForHealth } from './samples.ts';

const github = await startGithubApi({ basePath: '/api/v3' });
addSettings({ senders: { urls: [github.url] } });

browserTest('a first-time user creates a webhook, and sees its first requests arrive', async () => {
  const { page, visit } = await openDashboard();
  await visit('/webhooks');
  await page.getByText('No webhooks yet').waitFor();
  await page.getByRole('link', { name: 'New webhook' }).click();
  await page.locator('label.provider', { hasText: 'Bearer token' }).click();
  await page.getByLabel('Name', { exact: true }).fill('first-deploys');
  await page.getByText('Stored as FIRST_DEPLOYS_TOKEN').waitFor();
  await page.getByRole('button', { name: 'Create webhook' }).click();

  await page.getByText('Shown once.').waitFor();
  const [url = '', secret = ''] = await page.locator('.path .copyline code').allTextContents();
  const clipboard = await clipboardOf(page);
  await page.getByRole('button', { name: 'Copy secret' }).click();
  await page.getByRole('button', { name: 'Copied secret' }).waitFor();
  expect(await clipboard()).toBe(secret);

  const path = page.getByRole('list', { name: 'Set-up' });
  await path.getByText('Waiting for the first delivery').waitFor();
  expect((await post(url, {}, 'wrong')).status).toBe(401);
  await path.getByText('The request was refused').waitFor();
  await page.getByRole('region', { name: 'Cause' }).getByText('wrong token').waitFor();
  expect((await post(url, '{"state":"failed"}', secret)).status).toBe(202);
  await path.getByText('Deliveries arrive').waitFor();
  await path.getByRole('link', { name: 'Write an automation' }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'first-deploys' }).waitFor();
  const tabs = page.getByRole('navigation', { name: 'Webhook', exact: true });
  await tabs.getByRole('link', { name: /^Deliveries/ }).click();
  await page.locator('.own a.row').first().click();
  await expect.poll(() => page.url()).toMatch(/deliveries\/dlv_/);
});

browserTest('creates webhooks with a secret of the team, in the URL, later, or none', async () => {
  const dashboard = await openDashboard();
  const { page, daemon, factory, api, visit } = dashboard;
  const clipboard = await clipboardOf(page);
  const create = page.getByRole('button', { name: 'Create webhook' });
  const value = 'kept-by-the-team-0123456789';
  await storeIn(homeAt(daemon.workspace.home)).teamSecrets.set('TEAM_TOKEN', value, factory);
  await openNewWebhook(dashboard, 'deploys');
  await page.getByRole('radio', { name: /Use a team secret/ }).check();
  await page.getByRole('button', { name: 'Team secret: TEAM_TOKEN' }).waitFor();
  await create.click();
  await page.getByText('Webhook created').waitFor();
  expect(await page.content()).not.toContain(value);
  const { webhooks } = await api<{ webhooks: readonly { readonly url: string }[] }>('GET', '/webhooks');
  expect((await post(webhooks[0]?.url ?? '', {}, value)).status).toBe(202);
  await openNewWebhook(dashboard, 'orders', 'Token in the URL');
  await page.getByRole('radio', { name: /Use a team secret/ }).check();
  await create.click();
  await page.getByText('the webhook deploys also uses TEAM_TOKEN').waitFor();
  await page.getByLabel('Allow it even if another webhook uses it').check();
  await create.click();
  await page.getByText('Webhook created').waitFor();

  // A name that is taken leaves what was typed.
  await openNewWebhook(dashboard, 'deploys');
  await page.getByText('More options').click();
  await page.getByLabel('Secret name').fill('OTHER');
  await create.click();
  await page.getByRole('alert').getByText('the webhook deploys already exists').waitFor();
  expect(await page.getByLabel('Secret name').inputValue()).toBe('OTHER');

  // The whole URL is shown once, then a place for the secret.
  await openNewWebhook(dashboard, 'uptime', 'Token in the URL');
  await create.click();
  const url = await textOf(page.locator('.path .copyline code').first());
  expect((await post(url, {}, '')).status).toBe(202);
  await page.getByRole('button', { name: 'Copy ingress URL' }).click();
  await page.getByRole('button', { name: 'Copied ingress URL' }).waitFor();
  expect(await clipboard()).toBe(url);
  const shown = page.locator('.urlline .copyline');
  await shown.getByText('the secret', { exact: true }).waitFor();
  await shown.getByText('Copy without the secret').click();
  await expect.poll(clipboard).toBe(url.replace(/[^/]+$/, '{token}'));

  // The provider issues the secret later.
  await visit('/new-webhook');
  const finder = page.getByLabel(/^Find your sender among/);
  await finder.fill('git');
  await page.locator('label.provider', { hasText: 'Forgejo' }).waitFor();
  await finder.fill('payment stripe');
  await finder.press('Enter');
  await page.getByRole('heading', { name: 'Stripe' }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('stripe');
  expect(await page.getByRole('radio', { name: /Enter it later/ }).isChecked()).toBe(true);
  await page.getByLabel('Name', { exact: true }).fill('payments');
  await create.click();
  await page.getByText('At Stripe, register the URL').waitFor();
  await page.getByText('Needs its secret').waitFor();
  await page.getByText('Enter the secret that Stripe shows').waitFor();
  await page.getByLabel('Secret from the provider').fill('whsec_from-the-workbench');
  await page.getByRole('button', { name: 'Save the secret' }).click();
  await page.getByText('Enter the secret that Stripe shows').waitFor({ state: 'detached' });
  expect(await page.getByText('Needs its secret').count()).toBe(0);

  // The definition describes its sender itself.
  await openNewWebhook(dashboard, 'shop', 'HMAC of your own');
  const keys = page.getByLabel('Definition keys');
  await keys.fill('signatureScheme: {');
  await create.click();
  await page.locator('.diagnostics').waitFor();
  await keys.fill('signatureScheme: { header: X-Sig, hash: sha256, encoding: hex, content: "{body}" }');
  await create.click();
  await page.getByText('Shown once.').waitFor();
  await page.getByRole('button', { name: 'Copy secret' }).click();
  await page.getByRole('button', { name: 'Copied secret' }).waitFor();
  await openNewWebhook(dashboard, 'ci', 'OpenID Connect');
  await create.click();
  await page.getByText('It has no secret').waitFor();
  const { webhooks: created } = await api<{ webhooks: readonly object[] }>('GET', '/webhooks');
  expect(created).toMatchObject([
    { name: 'ci', authMode: 'oidc', claims: { repository: ['acme/shop'] } },
    ...['deploys', 'orders', 'payments'].map(name => ({ name })),
    { name: 'shop', signatureScheme: { header: 'X-Sig' } },
    { name: 'uptime' },
  ]);
});

browserTest('the list counts webhooks by their health, and a chip leaves those', async () => {
  const { page, api, visit } = await openDashboard();
  const github = { authMode: 'signature', signatureScheme: 'github' };
  const { uid } = await createWebhook(api, 'code', github);
  const deploys = await createWebhook(api, 'deploys');
  await createWebhook(api, 'uptime');
  const old = await createWebhook(api, 'old-ci');
  await api('PATCH', `/webhooks/${old.uid}`, { enabled: false });
  await automate(api, 'triage', deploys.uid);
  await deliver(deploys, { action: 'failed' });
  await waitForHealth(api, { [deploys.uid]: 'healthy' });

  // A page reads only the scheme of its sender.
  const asked: string[] = [];
  page.on('request', request => {
    if (request.url().includes('/schemes')) asked.push(new URL(request.url()).search);
  });
  await visit(`/webhooks/${uid}`);
  const { createdAt } = await api<{ createdAt: string }>('GET', `/webhooks/${uid}`);
  await page.getByText('GitHub, signature').waitFor();
  expect(await page.getByText('created ').locator('time').getAttribute('datetime')).toBe(createdAt);
  await page.getByText('At GitHub, register the URL').waitFor();
  const nothing = page.getByRole('region', { name: 'Nothing comes?' });
  expect(await textOf(nothing)).toContain('GitHub never retries by itself. It keeps its log for 3 days');
  expect(await textOf(nothing.locator('code').last())).toBe('hookmill senders missed code');

  // The list is there also while the log is too busy to tell their health.
  const problem = { title: 'The log is busy', status: 503, code: 'log-busy' };
  await page.route('**/health', route =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  );
  await page.getByRole('link', { name: 'Webhooks' }).first().click();
  await page.getByText('GitHub', { exact: true }).waitFor();
  await page.getByRole('row', { name: /deploys/ }).waitFor();
  expect(asked).toEqual(['?id=github']);
  await page.unroute('**/health');
  await page.reload();
  await page.getByRole('row', { name: /deploys.*Healthy.*failed.*triage.*1 accepted/ }).waitFor();
  await page.getByRole('row', { name: /old-ci.*Disabled.*answers 404.*since/ }).waitFor();
  await page.getByRole('button', { name: 'Disabled 1' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.getByRole('row', { name: /old-ci/ }).waitFor();
  expect(page.url()).toContain('?health=disabled');
  await page.getByRole('button', { name: 'All 4' }).click();
  await page.getByLabel('Find a webhook').fill('depl');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
});

browserTest('a webhook waits calmly, is tested, renamed, disabled and deleted', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await visit(`/webhooks/${webhook.uid}`);
  await page.getByText('Waiting for the first delivery').first().waitFor();
  expect(await textOf(page.locator('pre.shell'))).toContain(`curl --fail-with-body -X POST '${webhook.url}'`);
  // Nothing is red, and there is no cause.
  expect(await page.locator('.notice, .strip, .bad').count()).toBe(0);
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText(/deploys accepted the test: 202 after \d+ ms/).waitFor();
  await page.getByText('Deliveries arrive').waitFor();
  await page.locator('.strip').waitFor();
  await page.getByRole('heading', { name: 'Last test' }).waitFor();
  await page.getByRole('link', { name: 'Open', exact: true }).click();
  await expect.poll(() => page.url()).toMatch(/deliveries\/dlv_/);

  // A test asks before it starts runs.
  await automate(api, 'triage', webhook.uid);
  await visit(`/webhooks/${webhook.uid}?tab=set-up`);
  await page.getByRole('button', { name: 'Send test' }).click();
  const question = page.getByRole('dialog', { name: 'The test starts runs' });
  await question.getByText('the test event would start runs of triage').waitFor();
  expect(await api('GET', '/runs')).toMatchObject({ runs: [] });
  await question.getByRole('button', { name: 'Send it anyway' }).click();
  await page.getByText('and started 1 run').waitFor();

  const dialog = page.getByRole('dialog');
  await chooseFromMenu(page, 'Rename…');
  await dialog.getByLabel('Name').fill('releases');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'releases' }).waitFor();

  // Disabling asks first. Senders then get 404, until it is enabled.
  await chooseFromMenu(page, 'Disable…');
  const disabling = page.getByRole('dialog', { name: 'Disable releases?' });
  await disabling.getByRole('button', { name: 'Keep it' }).click();
  expect((await webhook.post({ n: 2 })).status).toBe(202);
  await chooseFromMenu(page, 'Disable…');
  await disabling.getByRole('button', { name: 'Disable releases' }).click();
  await page.getByText('releases is disabled and answers 404').waitFor();
  expect((await webhook.post({ n: 3 })).status).toBe(404);
  await page.getByText(/Disabled, answers 404 since \d\d:\d\d/).waitFor();
  expect(await page.getByRole('button', { name: 'Send test' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Enable' }).click();
  await page.getByText('releases accepts deliveries').waitFor();
  expect((await webhook.post({ n: 4 })).status).toBe(202);

  // Its automation stays, and stops firing.
  await chooseFromMenu(page, 'Delete…');
  await dialog.getByText('triage').waitFor();
  await page.getByRole('button', { name: 'Delete releases' }).click();
  await page.getByText('No webhooks yet').waitFor();
  expect((await webhook.post({ n: 5 })).status).toBe(404);
  expect(await api('GET', '/automations')).toMatchObject({
    automations: [{ name: 'triage', triggers: [{ webhook: null }] }],
  });
});

browserTest('shows each outcome newest first, with the reason of a rejection, and pages back', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const ids: string[] = [];
  for (let n = 0; n < 45; n++) ids.push(await deliver(webhook, { n }));
  await webhook.post({ n: 0 });
  await webhook.post('{"n":');
  await webhook.post({}, 'wrong');
  // A rejection is answered before its row is there.
  await expect
    .poll(() => api('GET', '/deliveries?limit=1'))
    .toMatchObject({ deliveries: [{ outcome: 'Rejected (auth)' }] });
  await visit(`/webhooks/${webhook.uid}`);
  const rows = page.locator('.own a.row');
  await rows.nth(9).waitFor();
  const titles = await rows.locator('.title').allTextContents();
  expect(titles.slice(0, 2)).toEqual(['Wrong token', 'Invalid JSON']);
  const signs = await rows
    .locator('> svg')
    .evaluateAll(found => found.map(each => each.getAttribute('aria-label')));
  const { bottom } = await rows.first().evaluate(row => row.getBoundingClientRect());
  expect(bottom, 'the newest delivery is above the fold').toBeLessThan(page.viewportSize()?.height ?? 0);
  expect(signs.slice(0, 4)).toEqual(['Rejected (auth)', 'Rejected (invalid JSON)', 'Duplicate', 'Accepted']);

  // The next page neither skips nor repeats any. Only rows in view are in the page.
  const seen = new Set<string>();
  const collect = async () => {
    for (const href of await rows.evaluateAll(found => found.map(each => each.getAttribute('href') ?? '')))
      seen.add(href.replace(/.*\//, ''));
  };
  // While a page is read, the button is disabled, and then it may be gone.
  const older = page.getByRole('button', { name: 'Show older deliveries', disabled: false });
  await expect
    .poll(async () => {
      await collect();
      if (await older.isVisible()) await older.click();
      await page.mouse.wheel(0, 400);
      return seen.size;
    })
    .toBe(48);
  expect(ids.every(id => seen.has(id))).toBe(true);

  await page.evaluate('scrollTo(0, 0)');
  await page.getByRole('button', { name: /^Exceptions/ }).click();
  await expect.poll(() => rows.count()).toBe(3);
  await rows.nth(2).click();
  await page.getByRole('link', { name: 'Open the original' }).click();
  await expect.poll(() => page.url()).toContain(`/deliveries/${ids[0]}`);

  // Filters that use a webhook are tested on its deliveries, and a near miss opens the editor repaired.
  const builds = await createWebhook(api, 'builds');
  await automate(api, 'triage', builds.uid, { ref: ['main'], state: ['failed'] });
  await automate(api, 'all', builds.uid);
  for (const n of [1, 2]) await deliver(builds, { n, ref: 'refs/heads/main', state: 'failed' });
  await deliver(builds, { ref: 'refs/heads/main', state: 'passed' });
  await visit(`/webhooks/${builds.uid}?tab=filters`);
  await page.getByText('1 of 2 automations matches what builds sends').waitFor();
  const triage = page.locator('li.tested', { hasText: 'triage' });
  expect(await textOf(triage)).toMatch(/started 0 of the last 3/);
  await triage.getByRole('navigation', { name: 'The last 3 deliveries: 0 match, 2 nearly' }).waitFor();
  expect(await textOf(triage)).toMatch(/\$\.ref.*never holds: it is "refs\/heads\/main"/);
  expect(await textOf(triage)).toMatch(/\$\.state.*holds for 2/);
  expect(await textOf(triage)).toMatch(/Did you mean \["refs\/heads\/main"\]\? It would have started 2\./);
  await triage.getByRole('link', { name: 'Open with this change' }).click();
  await page.locator('.cm-line', { hasText: 'ref: [refs/heads/main]' }).waitFor();
  expect(await api('GET', '/automations/triage')).toMatchObject({
    triggers: [{ payload: { ref: ['main'] } }],
  });
});

browserTest('the page of a webhook says why it did not fire, and where the path breaks', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const notice = page.getByRole('region', { name: 'Cause' });
  /** Opens the page when the daemon knows the cause, and expects that the notice shows it, with these words. */
  const expectCause = async (cause: string, words: RegExp) => {
    await expect.poll(() => api('GET', `/why/${webhook.uid}`)).toMatchObject({ cause });
    await visit('/webhooks');
    await visit(`/webhooks/${webhook.uid}`);
    // A change that leaves the same cause comes with the next look of the page.
    await expect.poll(() => textOf(notice)).toMatch(words);
    const broken = page.locator('.strip .no');
    expect((await textOf(broken)).toLowerCase()).toContain(cause);
  };
  await webhook.post({}, 'wrong');
  await expectCause(
    'authentication',
    /^Cause: [^\n]*rejected: wrong token[\s\S]*current value of the team secret/,
  );
  await webhook.post('{"n":');
  await expectCause('json', /^Cause: [^\n]*line 1, column 6/);
  await deliver(webhook, { state: 'Failed' });
  await expectCause('automations', /^Cause: no automation listens/);
  await notice.getByRole('link', { name: 'Write an automation' }).waitFor();
  await automate(api, 'triage', webhook.uid, { state: ['failed'] });
  await expectCause('automations', /\$\.state in \["failed"\]: it is "Failed"[\s\S]*did you mean "Failed"/);
  await deliver(webhook, { state: 'failed' });
  await expectCause('runs', /^Cause: [^\n]*failed after one attempt[\s\S]*no luck[\s\S]*hookmill runs retry/);
  // Every step is in the set-up.
  await visit(`/webhooks/${webhook.uid}?tab=set-up`);
  const path = page.getByRole('list', { name: 'The last request, step by step' });
  await expect
    .poll(() => textOf(path))
    .toMatch(/JSON.*the last body was valid.*Runs.*failed after one attempt/s);
});

/** Waits for the daemon's own first look at a provider. It is at a random moment, and would replace what a test keeps. */
async function waitForFirstLook({ daemon, factory }: Dashboard, uid: string): Promise<SenderStates> {
  const { senderStates } = storeIn(homeAt(daemon.workspace.home));
  await eventually(async () => {
    const states = await senderStates.read(factory);
    return states.find(state => state.uid === uid)?.checked;
  });
  return senderStates;
}

browserTest('the page of a webhook asks its provider, and again for what was missed', async () => {
  const dashboard = await openDashboard();
  const { page, api, visit, daemon, factory } = dashboard;
  await storeIn(homeAt(daemon.workspace.home)).teamSecrets.set('PAGE_HOOKS', 'github-token', factory);
  const secret = 'a-secret-of-the-page-1234567890';
  const shop = await createWebhook(api, 'shop', {
    ...{ authMode: 'signature', signatureScheme: 'github', secret: { kind: 'supplied', value: secret } },
    sender: {
      provider: 'github',
      repository: 'acme/shop',
      url: github.url,
      credentialSecret: 'PAGE_HOOKS',
    },
  });
  await automate(api, 'triage', shop.uid);
  const senderStates = await waitForFirstLook(dashboard, shop.uid);
  github.addHook('acme/shop', {
    events: ['push'],
    config: { url: shop.url, content_type: 'json', secret },
  });
  // As before the daemon's first look.
  await senderStates.learn(factory, shop.uid, state => ({ ...state, checked: null }));
  await visit(`/webhooks/${shop.uid}?tab=set-up`);
  const card = page.locator('section[aria-labelledby=sender]');
  await expect.poll(() => textOf(card)).toContain('Hook at github repository acme/shop');
  await expect.poll(() => textOf(card)).toContain('the provider has not been asked yet');
  await card.getByRole('button', { name: 'Check now' }).click();
  await expect.poll(() => textOf(card)).toMatch(/Checked /);

  // The newest may still arrive, so nobody asks for it.
  github.deliverMany(3, 'push', null, { spanMs: 3_600_000 });
  const [first, at] = [new Date(github.clock.now() - 7_200_000).toISOString(), new Date().toISOString()];
  // As the daemon keeps it when it has compared the logs.
  const missed = {
    ...{ at, since: first, nextSince: first, first, last: at },
    events: 3,
    attempts: 3,
    inVain: 0,
    lost: [],
    recovering: 0,
    problem: null,
  };
  await senderStates.learn(factory, shop.uid, state => ({
    ...state,
    ...{ checked: { at, hooks: [], problem: null }, missed },
  }));
  await page.reload();
  await expect.poll(() => textOf(card)).toContain('3 times to deliver 3 events');
  await card.getByRole('button', { name: 'Ask for them again' }).click();
  await expect.poll(() => textOf(card)).toContain('2 back.');
  const { deliveries } = await api<{ deliveries: unknown[] }>('GET', '/deliveries?outcome=Accepted');
  expect(deliveries).toHaveLength(2);
  await expect.poll(() => textOf(card)).toContain('1 time to deliver 1 event');
});
