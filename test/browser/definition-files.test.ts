import { expect } from 'vitest';
import { makeUpstream } from '../support/git-samples.ts';
import { send } from '../support/http.ts';
import { browserTest, chooseFromMenu, openDashboard, openNewWebhook, textOf } from './browser.ts';
import { factoryOf, followUpstream } from './definition-samples.ts';
import { triggerOn } from './samples.ts';

interface Webhooks {
  readonly webhooks: readonly { readonly uid: string; readonly url: string }[];
}

const files = [{ path: 'webhooks/deploys.yaml', content: 'secretName: S\n' }];

browserTest(
  'a factory of files: shows the file, toggles Enabled, and offers every other change as a file',
  async () => {
    const dashboard = await openDashboard();
    const { page, api, keep, visit } = dashboard;
    await factoryOf(dashboard);
    const { webhooks } = await api<Webhooks>('POST', '/apply', { files, origin: 'ci' });
    const content = JSON.stringify({ prompt: 'Look.', triggers: [triggerOn(webhooks[0]?.uid ?? '')] });
    const both = [...files, { path: 'automations/triage.yaml', content }];
    await api('POST', '/apply', { files: both, origin: 'ci' });
    await visit('/webhooks');
    await page.getByRole('link', { name: 'deploys' }).click();
    await page.getByRole('link', { name: 'Definition', exact: true }).click();
    await page.getByText('Defined in webhooks/deploys.yaml').waitFor();
    expect(await textOf(page.locator('.code pre'))).toBe('secretName: S\n');
    await page.getByText('hookmill secrets generate S').waitFor();
    await page.getByRole('button', { name: /^More: / }).click();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Copy a link', 'Disable…']);
    await page.getByRole('menuitem', { name: 'Disable…' }).click();
    await page.getByText('the next apply enables the webhook again').waitFor();
    await page.getByRole('button', { name: 'Disable deploys' }).click();
    await page.getByText('deploys is disabled and answers 404').waitFor();
    expect((await send(webhooks[0]?.url ?? '', { body: '{}' })).status).toBe(404);
    await page.getByText(/^Drift: .* disabled it/).waitFor();
    expect(await textOf(page.locator('.diff'))).toBe('- enabled: true\n+ enabled: false\n');
    await keep('files-webhook');

    await openNewWebhook(dashboard, 'uptime', 'Token in the URL');
    await page.getByRole('button', { name: 'Show the definition file' }).click();
    await page.getByText('hookmill secrets generate UPTIME_TOKEN').waitFor();
    await page.locator('.code header').getByText('webhooks/uptime.yaml').waitFor();
    expect(await textOf(page.locator('.code pre'))).toBe('authMode: url_token\nsecretName: UPTIME_TOKEN\n');
    await keep('files-new-webhook');
    expect((await api<Webhooks>('GET', '/webhooks')).webhooks).toHaveLength(1);
  },
);

browserTest('a factory of a repository: shows the commit, and that its tip is broken', async () => {
  const upstream = makeUpstream();
  const revision = upstream.commit({ 'webhooks/deploys.yaml': 'secretName: S\n' }, 'Add deploys');
  const dashboard = await openDashboard();
  const { page, api, visit } = dashboard;
  const reconcile = await followUpstream(dashboard, upstream.bare);
  await reconcile();
  upstream.commit({ 'webhooks/deploys.yaml': 'secretName: S\nauthMode: tokn\n' }, 'Say the mode');
  await reconcile();
  await visit('/webhooks');
  await page.getByText('The last good state is still applied.').waitFor();
  await page.getByRole('link', { name: 'deploys' }).click();
  await page.getByRole('link', { name: 'Definition', exact: true }).click();
  await page.getByText(`at commit ${revision.slice(0, 7)}`).waitFor();
  await page.getByText('a commit that renames it is not applied').waitFor();
  await page.getByText('The new value takes effect when the next change on the branch is applied.').waitFor();
  const { webhooks } = await api<Webhooks>('GET', '/webhooks');
  await chooseFromMenu(page, 'Disable…');
  await page.getByText('the next commit that is applied enables the webhook again').waitFor();
  await page.getByRole('button', { name: 'Disable deploys' }).click();
  await page.getByText('deploys is disabled and answers 404').waitFor();
  expect((await send(webhooks[0]?.url ?? '', { body: '{}' })).status).toBe(404);
});

browserTest('an automation of a factory of files is tested and reviewed, and copied as a file', async () => {
  const dashboard = await openDashboard();
  const { page, api, visit } = dashboard;
  await factoryOf(dashboard);
  const { webhooks } = await api<Webhooks>('POST', '/apply', { files, origin: 'ci' });
  const content = JSON.stringify({ prompt: 'Look.', triggers: [triggerOn(webhooks[0]?.uid ?? '')] });
  const both = [...files, { path: 'automations/triage.yaml', content }];
  await api('POST', '/apply', { files: both, origin: 'ci' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await visit('/automations');
  await page.getByRole('link', { name: 'Draft an automation' }).waitFor();
  await page.getByRole('link', { name: 'triage' }).click();
  await page.locator('.cm-line', { hasText: 'prompt: Look.' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type(' Closely. # new');
  await page.getByRole('button', { name: 'More actions' }).click();
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Runs', 'Pause…']);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Review changes' }).click();
  const dialog = page.locator('dialog');
  expect(await textOf(dialog.locator('.diff'))).toBe('- Look.\n+ Look. Closely.\n');
  await dialog.getByText('Write automations/triage.yaml').waitFor();
  expect(await dialog.getByRole('button', { name: 'Apply' }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Copy as file' }).click();
  await dialog.getByRole('button', { name: 'Copied as file' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
    /^prompt: Look\. Closely\. # new\ntriggers:/,
  );
  expect(await api('GET', '/automations/triage')).toMatchObject({ prompt: 'Look.' });
});
