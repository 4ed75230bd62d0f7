import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { bearerOf } from '../support/daemon.ts';
import { send } from '../support/http.ts';
import { browserTest, openDashboard, openNewWebhook, textOf } from './browser.ts';
import { createWebhook, deliver, post, triggerOn } from './samples.ts';

browserTest(
  'a first-time user creates a webhook, sees its delivery arrive, and reads the payload',
  async () => {
    const { page, visit, keep } = await openDashboard();
    await visit();
    await page.getByText('No automations yet').waitFor();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByText('No webhooks yet').waitFor();
    await keep('webhooks-empty');
    await page.getByRole('link', { name: 'Create webhook' }).click();
    await page.getByLabel('Name', { exact: true }).fill('first-deploys');
    expect(await page.getByRole('radio', { name: /Bearer token/ }).isChecked()).toBe(true);
    expect(await page.getByLabel('Secret name').inputValue()).toBe('FIRST_DEPLOYS_TOKEN');
    await keep('new-webhook');
    await page.getByRole('button', { name: 'Create webhook' }).click();

    await page.getByText('Shown once.').waitFor();
    await keep('webhook-created');
    const secret = await textOf(page.locator('.revealed code'));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy secret' }).click();
    await page.getByRole('button', { name: 'Copied secret' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Open the webhook' }).click();
    await page.getByText('No deliveries yet').waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    const url = await textOf(page.locator('.copyable code'));

    const payload = '{"state":"failed","id":12345678901234567890,"state":"again"}';
    const { status, deliveryId = '' } = await post(url, payload, secret);
    expect(status).toBe(202);
    const row = page.getByRole('button', { name: deliveryId });
    await row.waitFor();
    expect(await textOf(row)).toMatch(/Accepted[\s\S]*60 B[\s\S]*just now/);
    await row.click();
    await page.getByText('No automation listened to the webhook.').waitFor();
    // Exactly as sent: a number that no double can hold, and a duplicate key.
    expect(await textOf(page.locator('.payload pre'))).toBe(
      '{\n  "state": "failed",\n  "id": 12345678901234567890,\n  "state": "again"\n}',
    );
    await page.getByLabel('Search the payload').fill('STATE');
    await page.getByText('1 of 2').waitFor();
    expect(await page.locator('mark').allTextContents()).toEqual(['state', 'state']);
    await page.getByLabel('Search the payload').fill('nowhere');
    await page.getByText('not found').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download raw' }).click(),
    ]);
    expect(readFileSync(await download.path(), 'utf8')).toBe(payload);
    expect(download.suggestedFilename()).toMatch(/^dlv_\w+\.json$/);
    await keep('webhook');
  },
);

browserTest('shows each outcome newest first, with the reason of a rejection, and pages back', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const ids: string[] = [];
  for (let n = 0; n < 40; n++) ids.push(await deliver(webhook, { n }));
  await webhook.post({ n: 0 });
  await webhook.post('{"n":');
  await webhook.post({}, 'wrong');
  // A rejection is answered before its row is there.
  await expect
    .poll(() => api('GET', '/deliveries?limit=1'))
    .toMatchObject({ deliveries: [{ outcome: 'Rejected (auth)' }] });
  await visit(`/webhooks/${webhook.uid}`);
  const rows = page.locator('.deliveries .row-summary');
  await rows.nth(29).waitFor();
  const labels = await rows.locator('.pill').allTextContents();
  expect(labels.slice(0, 4)).toEqual(['Rejected (auth)', 'Rejected (invalid JSON)', 'Duplicate', 'Accepted']);
  await rows.first().click();
  await page.getByText('Why it was rejected: wrong token').waitFor();

  // New deliveries wait while a row is open. The next page neither skips nor repeats any.
  const newest = await deliver(webhook, { n: 'newest' });
  await page.getByRole('button', { name: '1 new' }).click();
  await page.getByRole('button', { name: newest }).waitFor();
  await page.getByRole('button', { name: 'Show older deliveries' }).click();
  await page.getByRole('button', { name: 'Show older deliveries' }).waitFor({ state: 'detached' });
  const shown = await rows.locator('.id').allTextContents();
  expect(shown.filter(id => ids.includes(id))).toEqual(ids.toReversed());
  expect(shown).toHaveLength(44);

  await page.getByLabel('Outcome').selectOption('Duplicate');
  await expect.poll(() => rows.count()).toBe(1);
  await rows.first().click();
  await page.getByRole('link', { name: ids[0] }).click();
  await page.getByRole('heading', { level: 1, name: ids[0] }).waitFor();
});

browserTest('rows of deliveries have the event type that a header names', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'repository', { keepHeaders: ['X-GitHub-Event'] });
  const headers = { ...bearerOf(webhook.secret), 'X-GitHub-Event': 'pull_request' };
  await send(webhook.url, { headers, body: '{"type":"in the payload"}' });
  await deliver(webhook, { type: 'in the payload only' });
  await visit(`/webhooks/${webhook.uid}`);
  const rows = page.locator('.deliveries .row-summary');
  await rows.nth(1).waitFor();
  expect(await rows.nth(1).locator('.about').allTextContents()).toEqual(['pull_request']);
  expect(await rows.nth(0).locator('.about').count()).toBe(0);
});

browserTest('toggles a webhook: senders get 404 immediately, then 202 again', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await visit(`/webhooks/${webhook.uid}`);
  const enabled = page.getByRole('switch', { name: 'Enabled' });
  expect((await webhook.post({ n: 1 })).status).toBe(202);
  await enabled.click();
  await page.getByText('deploys is disabled and answers 404').waitFor();
  expect((await webhook.post({ n: 2 })).status).toBe(404);
  expect(await enabled.getAttribute('aria-checked')).toBe('false');
  await enabled.click();
  await page.getByText('deploys accepts deliveries').waitFor();
  expect((await webhook.post({ n: 3 })).status).toBe(202);
});

browserTest('rotates the secret: the new one is shown once, the old one is refused immediately', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await visit(`/webhooks/${webhook.uid}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
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
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('releases');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { level: 1, name: 'releases' }).waitFor();
  expect((await webhook.post({ n: 1 })).status).toBe(202);

  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('triage').waitFor();
  await keep('webhook-delete');
  await page.getByRole('button', { name: 'Delete webhook' }).click();
  await page.getByText('No webhooks yet').waitFor();
  expect((await webhook.post({ n: 2 })).status).toBe(404);
  await page.getByRole('link', { name: 'Automations', exact: true }).last().click();
  await page.getByRole('row', { name: /triage.*deleted webhook/ }).waitFor();
});

browserTest('creates a URL token webhook: the whole URL is shown once, then {token}', async () => {
  const dashboard = await openDashboard();
  const { page } = dashboard;
  await openNewWebhook(dashboard, 'uptime');
  await page.getByRole('radio', { name: /URL token/ }).check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const url = await textOf(page.locator('.revealed code').first());
  expect((await post(url, {}, '')).status).toBe(202);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('button', { name: 'Open the webhook' }).click();
  await page.getByRole('button', { name: 'Set-up and definition' }).click();
  const withoutToken = url.replace(/[^/]+$/, '{token}');
  await page.locator('.copyable code').getByText(withoutToken, { exact: true }).waitFor();
});

browserTest('creates a webhook whose provider issues the secret later, and enters that secret', async () => {
  const dashboard = await openDashboard();
  const { page, keep } = dashboard;
  await openNewWebhook(dashboard, 'payments');
  await page.getByRole('radio', { name: /Provider signature/ }).check();
  const provider = page.getByRole('combobox', { name: 'Provider' });
  await provider.fill('payment stripe');
  await keep('new-webhook-schemes');
  await provider.press('Enter');
  expect(await provider.inputValue()).toBe('Stripe');
  expect(await page.getByRole('radio', { name: 'Leave blank and enter it later' }).isChecked()).toBe(true);
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('button', { name: 'Open the webhook' }).click();
  await page.getByText('The webhook has no secret yet').waitFor();
  await page.getByText('At Stripe, register the URL above').waitFor();
  await keep('webhook-without-secret');
  await page.getByRole('button', { name: 'Enter secret' }).click();
  await page.getByLabel('Secret from the provider').fill('whsec_from-the-workbench');
  await page.getByRole('dialog').getByRole('button', { name: 'Enter secret' }).click();
  await page.getByRole('button', { name: 'Rotate secret' }).waitFor();
  expect(await page.getByText('The webhook has no secret yet').count()).toBe(0);
});

browserTest('creates a webhook on an existing team secret, whose value is never shown', async () => {
  const { page, daemon, factory, visit } = await openDashboard();
  const value = 'kept-by-the-team-0123456789';
  await daemon.workspace.hookmill('--factory', factory, 'secrets', 'set', 'TEAM_TOKEN', { stdin: value });
  await visit('/new-webhook');
  await page.getByLabel('Name', { exact: true }).fill('deploys');
  await page.getByRole('radio', { name: 'Use an existing team secret' }).check();
  await page.getByLabel('Team secret', { exact: true }).selectOption('TEAM_TOKEN');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('It uses the team secret TEAM_TOKEN').waitFor();
  expect(await page.content()).not.toContain(value);
  await page.getByRole('button', { name: 'Open the webhook' }).click();
  const url = await textOf(page.locator('.copyable code'));
  expect((await post(url, {}, value)).status).toBe(202);

  await visit('/new-webhook');
  await page.getByLabel('Name', { exact: true }).fill('orders');
  await page.getByRole('radio', { name: 'URL token' }).check();
  await page.getByRole('radio', { name: 'Use an existing team secret' }).check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('the webhook deploys also uses TEAM_TOKEN').waitFor();
  await page.getByLabel('Allow it even if another webhook uses it').check();
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByText('It uses the team secret TEAM_TOKEN').waitFor();
});

browserTest('says that a name is already taken, and keeps what was typed', async () => {
  const { page, api, visit } = await openDashboard();
  await createWebhook(api, 'deploys');
  await visit('/new-webhook');
  await page.getByLabel('Name', { exact: true }).fill('deploys');
  await page.getByLabel('Secret name').fill('OTHER');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('alert').getByText('the webhook deploys already exists').waitFor();
  expect(await page.getByLabel('Secret name').inputValue()).toBe('OTHER');
});

browserTest('the page of a webhook with a sender asks its provider, and says what is wrong', async () => {
  const { page, api, visit } = await openDashboard();
  // Its address is not one that the operator lists.
  const sender = {
    provider: 'github',
    repository: 'acme/shop',
    url: 'http://127.0.0.1:9',
    credentialSecret: 'HOOKS',
  };
  const shop = await createWebhook(api, 'shop', { authMode: 'signature', signatureScheme: 'github', sender });
  await visit(`/webhooks/${shop.uid}`);
  const card = page.locator('section[aria-labelledby=sender]');
  await expect.poll(() => textOf(card)).toContain('Hook at github repository acme/shop');
  await expect.poll(() => textOf(card)).toContain('the provider has not been asked yet');
  await card.getByRole('button', { name: 'Check now' }).click();
  await expect.poll(() => textOf(card)).toMatch(/may not get a credential[\s\S]*Checked /);
});
