import { expect } from 'vitest';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { automate, createWebhook, deliver } from './samples.ts';

browserTest('a token that may only read shows everything, and no control that changes anything', async () => {
  const { page, api, visit } = await openDashboard({ isReader: true });
  const webhook = await createWebhook(api, 'deploys');
  await automate(api, 'triage', webhook.uid);
  await deliver(webhook, { state: 'failed' });
  await webhook.post({}, 'wrong');
  await visit();
  const changing = page.getByRole('button', {
    name: /create|draft|edit|delete|rename|rotate|enter|replay|retry|dismiss|run again|cancel|save|add/i,
  });
  const controls = async () => [
    await changing.count(),
    await page.getByRole('switch').count(),
    await page.getByRole('link', { name: /create|draft/i }).count(),
  ];

  await page.getByRole('heading', { level: 1, name: /All is well|need/ }).waitFor();
  expect(await controls()).toEqual([0, 0, 0]);
  await page.getByRole('link', { name: 'Automations', exact: true }).click();
  await page.getByRole('row', { name: /triage/ }).waitFor();
  expect(await controls()).toEqual([0, 0, 0]);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'deploys' }).click();
  await page.locator('.own a.row').nth(1).waitFor();
  await page.getByText('Healthy').waitFor();
  expect(await controls()).toEqual([0, 0, 0]);
  for (const tab of ['set-up', 'filters', 'definition']) {
    await visit(`/webhooks/${webhook.uid}?tab=${tab}`);
    await page.locator('.path, .tested, .code').first().waitFor();
    expect(await controls(), tab).toEqual([0, 0, 0]);
  }
  await page.getByRole('button', { name: 'More: copy a link' }).click();
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Copy a link']);
  await page.keyboard.press('Escape');

  await visit('/automations/triage');
  await page.getByText('Would have started 1 of the last 1').waitFor();
  await page.getByText('as long as the operator allows').waitFor();
  const definition = page.getByRole('textbox', { name: 'Definition' });
  await definition.click();
  await page.keyboard.type('x');
  expect(await textOf(definition)).toMatch(/^prompt: Look\./);
  expect(await page.getByRole('button', { name: /Review|Run with|Discard/ }).count()).toBe(0);
  expect(await page.locator('.slot').count()).toBe(0);
  await page.getByRole('button', { name: 'More actions' }).click();
  expect(await page.getByRole('menuitem').allTextContents()).toEqual(['Runs']);
  await page.keyboard.press('Escape');
  expect(await controls()).toEqual([0, 0, 0]);

  await visit('/runs');
  await page.locator('a.row').first().click();
  await page.getByText('read the log').waitFor();
  expect(await controls()).toEqual([0, 0, 0]);

  // The pages that change something show nothing to a reader either.
  await visit('/new-webhook');
  await page.getByText('You need the manage permission to create webhooks.').waitFor();
  await visit('/new-automation');
  await page.getByText('You need the manage permission to create automations.').waitFor();
  expect(await controls()).toEqual([0, 0, 0]);

  // Settings: no audit log, no tokens.
  await visit('/settings/secrets');
  await page.getByRole('row', { name: /DEPLOYS_TOKEN/ }).waitFor();
  expect(
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link').allTextContents(),
  ).toEqual([...['Branch', 'Secrets', 'Sign-in', 'Alerts', 'Daemon']]);
  const content = page.locator('.side > div');
  const buttons = content.getByRole('button', {
    name: /create|set|suspend|try|revoke|acknowledge|more/i,
  });
  for (const section of ['branch', 'secrets', 'alerts', 'daemon']) {
    await visit(`/settings/${section}`);
    await content.getByRole('heading').first().waitFor();
    expect(await buttons.count(), section).toBe(0);
  }
  await visit('/settings/audit');
  await page.getByText('You need the manage permission to see: Audit log.').waitFor();
  await visit('/settings/nothing');
  await page.getByText('There are no settings at this address.').waitFor();
});
