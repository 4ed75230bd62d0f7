import { expect } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { SenderStates } from '../../store/ports/daemon-records.ts';
import { bearerOf } from '../support/daemon.ts';
import { eventually } from '../support/eventually.ts';
import { send } from '../support/http.ts';
import { startGithubApi } from '../support/senders/github-api.ts';
import { storeIn } from '../support/stored.ts';
import {
  addSettings,
  browserTest,
  chooseFromMenu,
  type Dashboard,
  openDashboard,
  openNewWebhook,
  textOf,
} from './browser.ts';
import { createWebhook, deliver, post, triggerOn, waitForHealth } from './samples.ts';

const github = await startGithubApi({ basePath: '/api/v3' });
addSettings({ senders: { urls: [github.url] } });

browserTest(
  'a first-time user creates a webhook, sees its first delivery arrive by itself, and opens it',
  async () => {
    const { page, visit, keep } = await openDashboard();
    await visit('/webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await keep('webhooks-empty');
    await page.getByRole('link', { name: 'New webhook' }).click();
    await page.locator('label.provider', { hasText: 'Bearer token' }).click();
    await page.getByLabel('Name', { exact: true }).fill('first-deploys');
    await page.getByText('Stored as FIRST_DEPLOYS_TOKEN').waitFor();
    await keep('new-webhook');
    await page.getByRole('button', { name: 'Create webhook' }).click();

    await page.getByText('Shown once.').waitFor();
    await keep('webhook-created');
    const [url = '', secret = ''] = await page.locator('.path .copyline code').allTextContents();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy secret' }).click();
    await page.getByRole('button', { name: 'Copied secret' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret);

    const path = page.getByRole('list', { name: 'Set-up' });
    await path.getByText('Waiting for the first delivery').waitFor();
    expect((await post(url, '{"state":"failed"}', secret)).status).toBe(202);
    await path.getByText('Deliveries arrive').waitFor();
    await path.getByRole('link', { name: 'Write an automation' }).waitFor();
    await page.getByRole('button', { name: 'Open the webhook' }).click();
    await page.getByRole('heading', { level: 1, name: 'first-deploys' }).waitFor();
    await page.locator('.own a.row').first().click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.url()).toMatch(/deliveries\/dlv_/);
  },
);

browserTest('lists the webhooks also while the log is too busy to tell their health', async () => {
  const { page, api, visit } = await openDashboard();
  await createWebhook(api, 'deploys');
  const problem = { title: 'The log is busy', status: 503, code: 'log-busy' };
  await page.route('**/health', route =>
    route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify(problem) }),
  );
  await visit('/webhooks');
  await page.getByRole('row', { name: /deploys/ }).waitFor();
});

browserTest('a refused first request turns the page too, and says the cause', async () => {
  const dashboard = await openDashboard();
  const { page } = dashboard;
  await openNewWebhook(dashboard, 'deploys');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('Waiting for the first delivery').waitFor();
  const url = await textOf(page.locator('.path .copyline code').first());
  expect((await post(url, {}, 'wrong')).status).toBe(401);
  const path = page.getByRole('list', { name: 'Set-up' });
  await path.getByText('The request was refused').waitFor();
  await path.getByText('the last request was rejected: wrong token').waitFor();
});

browserTest('a webhook that was never seen waits calmly, without a cause and without red', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await visit(`/webhooks/${webhook.uid}`);
  await page.getByText('Waiting for the first delivery').first().waitFor();
  expect(await textOf(page.locator('pre.shell'))).toContain(`curl --fail-with-body -X POST '${webhook.url}'`);
  expect(await page.locator('.notice, .strip, .bad').count()).toBe(0);
  await keep('webhook-waiting');
  await deliver(webhook, { state: 'failed' });
  await page.getByText('Deliveries arrive').waitFor();
  await page.locator('.strip').waitFor();
});

browserTest('says when a webhook was created, and reads only the scheme of its sender', async () => {
  const { page, api, visit } = await openDashboard();
  const keys = { authMode: 'signature', signatureScheme: 'github' };
  const { uid } = await createWebhook(api, 'code', keys);
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
  await page.getByRole('link', { name: 'Webhooks' }).first().click();
  await page.getByText('GitHub', { exact: true }).waitFor();
  expect(asked).toEqual(['?id=github']);
});

browserTest('shows each outcome newest first, with the reason of a rejection, and pages back', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) ids.push(await deliver(webhook, { n }));
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
    .toBe(63);
  expect(ids.every(id => seen.has(id))).toBe(true);

  await page.evaluate('scrollTo(0, 0)');
  await page.getByRole('button', { name: /^Exceptions/ }).click();
  await expect.poll(() => rows.count()).toBe(3);
  await rows.nth(2).click();
  await page.getByRole('link', { name: 'Open the original' }).click();
  await expect.poll(() => page.url()).toContain(`/deliveries/${ids[0]}`);
});

browserTest('rows of deliveries are titled by the event that a header names', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'repository', { keepHeaders: ['X-GitHub-Event'] });
  const headers = { ...bearerOf(webhook.secret), 'X-GitHub-Event': 'pull_request' };
  await send(webhook.url, { headers, body: '{"type":"in the payload"}' });
  await deliver(webhook, { type: 'in the payload only' });
  await visit(`/webhooks/${webhook.uid}`);
  const titles = page.locator('.own a.row .title');
  await titles.nth(1).waitFor();
  expect(await titles.allTextContents()).toEqual(['in the payload only', 'pull_request']);
});

browserTest(
  'disabling asks first: senders then get 404 immediately, and 202 again once it is enabled',
  async () => {
    const { page, api, visit, keep } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    expect((await webhook.post({ n: 1 })).status).toBe(202);
    await visit(`/webhooks/${webhook.uid}`);
    await chooseFromMenu(page, 'Disable…');
    const dialog = page.getByRole('dialog', { name: 'Disable deploys?' });
    await keep('webhook-disable');
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    expect((await webhook.post({ n: 2 })).status).toBe(202);
    await chooseFromMenu(page, 'Disable…');
    await dialog.getByRole('button', { name: 'Disable deploys' }).click();
    await page.getByText('deploys is disabled and answers 404').waitFor();
    expect((await webhook.post({ n: 3 })).status).toBe(404);
    await page.getByText(/Disabled, answers 404 since \d\d:\d\d/).waitFor();
    expect(await page.getByRole('button', { name: 'Send test' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('deploys accepts deliveries').waitFor();
    expect((await webhook.post({ n: 4 })).status).toBe(202);
  },
);

browserTest(
  'sends a test: it is accepted, or the page says why not, or asks before it starts runs',
  async () => {
    const { page, api, visit } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    await visit(`/webhooks/${webhook.uid}`);
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/deploys accepted the test: 202 after \d+ ms/).waitFor();
    await page.getByRole('heading', { name: 'Last test' }).waitFor();
    await page.getByRole('link', { name: 'Open', exact: true }).click();
    await expect.poll(() => page.url()).toMatch(/deliveries\/dlv_/);

    await api('POST', '/automations', {
      name: 'triage',
      prompt: 'Look.',
      triggers: [triggerOn(webhook.uid)],
    });
    await visit(`/webhooks/${webhook.uid}?tab=set-up`);
    await page.getByRole('button', { name: 'Send test' }).click();
    const dialog = page.getByRole('dialog', { name: 'The test starts runs' });
    await dialog.getByText('the test event would start runs of triage').waitFor();
    expect(await api('GET', '/runs')).toMatchObject({ runs: [] });
    await dialog.getByRole('button', { name: 'Send it anyway' }).click();
    await page.getByText('and started 1 run').waitFor();
  },
);

browserTest('rotates the secret: the new one is shown once, the old one is refused immediately', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await visit(`/webhooks/${webhook.uid}`);
  await chooseFromMenu(page, 'Rotate the secret…');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  const secret = await textOf(dialog.locator('.revealed code'));
  await keep('secret-rotated');
  expect((await webhook.post({ n: 1 })).status).toBe(401);
  expect((await webhook.post({ n: 1 }, secret)).status).toBe(202);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
});

browserTest('renames a webhook, and deletes it: its automation stays and stops firing', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const triggers = [triggerOn(webhook.uid)];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
  await visit(`/webhooks/${webhook.uid}`);
  await chooseFromMenu(page, 'Rename…');
  await page.getByRole('dialog').getByLabel('Name').fill('releases');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'releases' }).waitFor();
  expect((await webhook.post({ n: 1 })).status).toBe(202);

  await chooseFromMenu(page, 'Delete…');
  await page.getByRole('dialog').getByText('triage').waitFor();
  await keep('webhook-delete');
  await page.getByRole('button', { name: 'Delete releases' }).click();
  await page.getByText('No webhooks yet').waitFor();
  expect((await webhook.post({ n: 2 })).status).toBe(404);
  expect(await api('GET', '/automations')).toMatchObject({
    automations: [{ name: 'triage', triggers: [{ webhook: null }] }],
  });
});

browserTest('the list counts webhooks by their health, and a chip leaves those', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const deploys = await createWebhook(api, 'deploys');
  await createWebhook(api, 'uptime');
  const old = await createWebhook(api, 'old-ci');
  await api('PATCH', `/webhooks/${old.uid}`, { enabled: false });
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers: [triggerOn(deploys.uid)] });
  await deliver(deploys, { action: 'failed' });
  await waitForHealth(api, { [deploys.uid]: 'healthy' });
  await visit('/webhooks');
  await page.getByRole('row', { name: /deploys.*Healthy.*failed.*triage.*1 accepted/ }).waitFor();
  await page.getByRole('row', { name: /old-ci.*Disabled.*answers 404.*since/ }).waitFor();
  await keep('webhooks');
  await page.getByRole('button', { name: 'Waiting 1' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.getByRole('row', { name: /uptime/ }).waitFor();
  expect(page.url()).toContain('?health=waiting');
  await page.getByRole('button', { name: 'All 3' }).click();
  await page.getByLabel('Find a webhook').fill('depl');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
});

browserTest(
  'filters that use a webhook are tested on its deliveries, and a near miss opens the editor repaired',
  async () => {
    const { page, api, keep, visit } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    const triggers = [triggerOn(webhook.uid, { ref: ['main'], state: ['failed'] })];
    await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
    await api('POST', '/automations', { name: 'all', prompt: 'Look.', triggers: [triggerOn(webhook.uid)] });
    for (const n of [1, 2]) await deliver(webhook, { n, ref: 'refs/heads/main', state: 'failed' });
    await deliver(webhook, { ref: 'refs/heads/main', state: 'passed' });
    await visit(`/webhooks/${webhook.uid}?tab=filters`);
    await page.getByText('1 of 2 automations matches what deploys sends').waitFor();
    const triage = page.locator('li.tested', { hasText: 'triage' });
    expect(await textOf(triage)).toMatch(/started 0 of the last 3/);
    await triage.getByRole('navigation', { name: 'The last 3 deliveries: 0 match, 2 nearly' }).waitFor();
    expect(await textOf(triage)).toMatch(/\$\.ref.*never holds: it is "refs\/heads\/main"/);
    expect(await textOf(triage)).toMatch(/\$\.state.*holds for 2/);
    expect(await textOf(triage)).toMatch(/Did you mean \["refs\/heads\/main"\]\? It would have started 2\./);
    await keep('webhook-filters');
    await triage.getByRole('link', { name: 'Open with this change' }).click();
    await page.locator('.cm-line', { hasText: 'ref: [refs/heads/main]' }).waitFor();
    expect(await api('GET', '/automations/triage')).toMatchObject({
      triggers: [{ payload: { ref: ['main'] } }],
    });
  },
);

browserTest(
  'creates a URL token webhook: the whole URL is shown once, then a place for the secret',
  async () => {
    const dashboard = await openDashboard();
    const { page } = dashboard;
    await openNewWebhook(dashboard, 'uptime', 'Token in the URL');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const url = await textOf(page.locator('.path .copyline code').first());
    expect((await post(url, {}, '')).status).toBe(202);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy ingress URL' }).click();
    await page.getByRole('button', { name: 'Copied ingress URL' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(url);
    await page.getByRole('button', { name: 'Open the webhook' }).click();
    const shown = page.locator('.urlline .copyline');
    await shown.getByText('the secret', { exact: true }).waitFor();
    await shown.getByText('Copy without the secret').click();
    await expect
      .poll(() => page.evaluate<string>('navigator.clipboard.readText()'))
      .toBe(url.replace(/[^/]+$/, '{token}'));
  },
);

browserTest('creates a webhook whose provider issues the secret later, and enters that secret', async () => {
  const { page, keep, visit } = await openDashboard();
  await visit('/new-webhook');
  const finder = page.getByLabel(/^Find your sender among/);
  await finder.fill('git');
  await page.locator('label.provider', { hasText: 'Forgejo' }).waitFor();
  await finder.fill('payment stripe');
  await keep('new-webhook-schemes');
  await finder.press('Enter');
  await page.getByRole('heading', { name: 'Stripe' }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('stripe');
  expect(await page.getByRole('radio', { name: /Enter it later/ }).isChecked()).toBe(true);
  await page.getByLabel('Name', { exact: true }).fill('payments');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('At Stripe, register the URL').waitFor();
  await page.getByRole('button', { name: 'Open the webhook' }).click();
  await page.getByText('Needs its secret').waitFor();
  await page.getByText('Enter the secret that Stripe shows').waitFor();
  await keep('webhook-without-secret');
  await page.getByLabel('Secret from the provider').fill('whsec_from-the-workbench');
  await page.getByRole('button', { name: 'Save the secret' }).click();
  await page.getByText('Enter the secret that Stripe shows').waitFor({ state: 'detached' });
  expect(await page.getByText('Needs its secret').count()).toBe(0);
});

browserTest('creates a webhook on an existing team secret, whose value is never shown', async () => {
  const dashboard = await openDashboard();
  const { page, daemon, factory, api } = dashboard;
  const value = 'kept-by-the-team-0123456789';
  await daemon.workspace.hookmill('--factory', factory, 'secrets', 'set', 'TEAM_TOKEN', { stdin: value });
  await openNewWebhook(dashboard, 'deploys');
  await page.getByRole('radio', { name: /Use a team secret/ }).check();
  await page.getByRole('button', { name: 'Team secret: TEAM_TOKEN' }).waitFor();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('Webhook created').waitFor();
  expect(await page.content()).not.toContain(value);
  const { webhooks } = await api<{ webhooks: readonly { readonly url: string }[] }>('GET', '/webhooks');
  expect((await post(webhooks[0]?.url ?? '', {}, value)).status).toBe(202);

  await openNewWebhook(dashboard, 'orders', 'Token in the URL');
  await page.getByRole('radio', { name: /Use a team secret/ }).check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('the webhook deploys also uses TEAM_TOKEN').waitFor();
  await page.getByLabel('Allow it even if another webhook uses it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('Webhook created').waitFor();
});

browserTest(
  'creates webhooks that describe their sender themselves, and says where a description is wrong',
  async () => {
    const dashboard = await openDashboard();
    const { page, api } = dashboard;
    await openNewWebhook(dashboard, 'orders', 'HMAC of your own');
    const keys = page.getByLabel('Definition keys');
    await keys.fill('signatureScheme: {');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.locator('.diagnostics').waitFor();
    await keys.fill('signatureScheme: { header: X-Sig, hash: sha256, encoding: hex, content: "{body}" }');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText('Shown once.').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy secret' }).click();
    await page.getByRole('button', { name: 'Copied secret' }).waitFor();
    await openNewWebhook(dashboard, 'ci', 'OpenID Connect');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    await page.getByText('It has no secret').waitFor();
    expect(await api('GET', '/webhooks')).toMatchObject({
      webhooks: [
        { name: 'ci', authMode: 'oidc', claims: { repository: ['acme/shop'] } },
        { name: 'orders', signatureScheme: { header: 'X-Sig' } },
      ],
    });
  },
);

browserTest('says that a name is already taken, and keeps what was typed', async () => {
  const dashboard = await openDashboard();
  const { page, api } = dashboard;
  await createWebhook(api, 'deploys');
  await openNewWebhook(dashboard, 'deploys');
  await page.getByText('More options').click();
  await page.getByLabel('Secret name').fill('OTHER');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('alert').getByText('the webhook deploys already exists').waitFor();
  expect(await page.getByLabel('Secret name').inputValue()).toBe('OTHER');
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

browserTest('the page of a webhook with a sender asks its provider, and says what is wrong', async () => {
  const dashboard = await openDashboard();
  const { page, api, visit, factory } = dashboard;
  // Its address is not one that the operator lists.
  const sender = {
    provider: 'github',
    repository: 'acme/shop',
    url: 'http://127.0.0.1:9',
    credentialSecret: 'HOOKS',
  };
  const shop = await createWebhook(api, 'shop', { authMode: 'signature', signatureScheme: 'github', sender });
  // As before the daemon's first look.
  const senderStates = await waitForFirstLook(dashboard, shop.uid);
  await senderStates.learn(factory, shop.uid, state => ({ ...state, checked: null }));
  await visit(`/webhooks/${shop.uid}?tab=set-up`);
  const card = page.locator('section[aria-labelledby=sender]');
  await expect.poll(() => textOf(card)).toContain('Hook at github repository acme/shop');
  await expect.poll(() => textOf(card)).toContain('the provider has not been asked yet');
  await card.getByRole('button', { name: 'Check now' }).click();
  await expect.poll(() => textOf(card)).toMatch(/may not get a credential[\s\S]*Checked /);
});

browserTest('the page of a webhook asks its provider again for what was missed', async () => {
  const dashboard = await openDashboard();
  const { page, api, visit, daemon, factory } = dashboard;
  await storeIn(homeAt(daemon.workspace.home)).teamSecrets.set('PAGE_HOOKS', 'github-token', factory);
  const secret = 'a-secret-of-the-page-1234567890';
  const shop = await createWebhook(api, 'shop', {
    ...{ authMode: 'signature', signatureScheme: 'github', secret: { kind: 'supplied', value: secret } },
    sender: { provider: 'github', repository: 'acme/shop', url: github.url, credentialSecret: 'PAGE_HOOKS' },
  });
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers: [triggerOn(shop.uid)] });
  const senderStates = await waitForFirstLook(dashboard, shop.uid);
  github.addHook('acme/shop', { events: ['push'], config: { url: shop.url, content_type: 'json', secret } });
  // The newest may still arrive, so nobody asks for it.
  github.deliverMany(3, 'push', null, { spanMs: 3_600_000 });
  const [first, at] = [new Date(github.clock.now() - 7_200_000).toISOString(), new Date().toISOString()];
  // As the daemon keeps it when it has compared the logs.
  const missed = {
    ...{ at, since: first, nextSince: first, first, last: at },
    events: 3,
    attempts: 3,
    recovering: 0,
    problem: null,
  };
  await senderStates.learn(factory, shop.uid, state => ({
    ...state,
    ...{ checked: { at, hooks: [], problem: null }, missed },
  }));
  await visit(`/webhooks/${shop.uid}?tab=set-up`);
  const card = page.locator('section[aria-labelledby=sender]');
  await expect.poll(() => textOf(card)).toContain('3 times to deliver 3 events');
  await card.getByRole('button', { name: 'Ask for them again' }).click();
  await expect.poll(() => textOf(card)).toContain('2 back.');
  const { deliveries } = await api<{ deliveries: unknown[] }>('GET', '/deliveries?outcome=Accepted');
  expect(deliveries).toHaveLength(2);
  await expect.poll(() => textOf(card)).toContain('1 time to deliver 1 event');
});
