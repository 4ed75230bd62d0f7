import { expect } from 'vitest';
import { browserTest, clipboardOf, openDashboard, openNewWebhook, textOf } from './browser.ts';
import { factoryOf } from './definition-samples.ts';
import { post, triggerOn } from './samples.ts';

interface Webhooks {
  readonly webhooks: readonly { readonly uid: string; readonly url: string }[];
}

const files = [{ path: 'webhooks/deploys.yaml', content: 'secretName: S\n' }];

browserTest('a factory of files is switched, and offers other changes as files', async () => {
  const dashboard = await openDashboard();
  const { page, api, visit } = dashboard;
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
  const { url = '' } = webhooks[0] ?? {};
  expect((await post(url, {}, 'a-secret-of-thirty-two-characters')).status).toBe(202);
  await page.getByRole('button', { name: /^More: / }).click();
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Copy a link', 'Disable…']);
  await page.getByRole('menuitem', { name: 'Disable…' }).click();
  await page.getByText('the next apply enables the webhook again').waitFor();
  await page.getByRole('button', { name: 'Disable deploys' }).click();
  await page.getByText('deploys is disabled and answers 404').waitFor();
  expect((await post(url, {}, '')).status).toBe(404);
  await page.getByText(/^Drift: .* disabled it/).waitFor();
  expect(await textOf(page.locator('.diff'))).toBe('- enabled: true\n+ enabled: false\n');

  await visit('/overview');
  await page.getByRole('list', { name: 'Needs attention' }).getByText('The applied state differs').waitFor();
  await page.getByText(/^Deploys was disabled by .+, and is enabled in its file\./).waitFor();
  await page.getByRole('link', { name: 'See the drift' }).waitFor();

  // The settings say what was changed by hand, by whom, and what it is in its file.
  await visit('/status');
  const shown = page.locator('.side > div');
  await shown.getByText('This factory follows no branch. It is managed by definition files').waitFor();
  expect(await textOf(shown)).toMatch(
    /deploys is disabled here, enabled in its file · manage-\w+, \d\d:\d\d:\d\d/,
  );
  expect(await textOf(shown.locator('.diff'))).toBe('- enabled: true\n+ enabled: false\n');
  const sections = page.getByRole('navigation', { name: 'Settings' });
  await sections.getByRole('img', { name: 'drift' }).waitFor();
  expect(await page.getByRole('button', { name: /Suspend|Try now/ }).count()).toBe(0);

  await openNewWebhook(dashboard, 'uptime', 'Token in the URL');
  await page.getByRole('button', { name: 'Show the definition file' }).click();
  await page.getByText('hookmill secrets generate UPTIME_TOKEN').waitFor();
  await page.locator('.code header').getByText('webhooks/uptime.yaml').waitFor();
  expect(await textOf(page.locator('.code pre'))).toBe('authMode: url_token\nsecretName: UPTIME_TOKEN\n');
  expect((await api<Webhooks>('GET', '/webhooks')).webhooks).toHaveLength(1);

  // An automation is tested and reviewed, and copied as a file.
  const clipboard = await clipboardOf(page);
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
  expect(await clipboard()).toMatch(/^prompt: Look\. Closely\. # new\ntriggers:/);
  expect(await api('GET', '/automations/triage')).toMatchObject({ prompt: 'Look.' });
});
