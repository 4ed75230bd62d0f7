import { expect } from 'vitest';
import { browserTest, makeToken, openDashboard, textOf } from './browser.ts';
import { createWebhook } from './samples.ts';

browserTest('shows who changed what, and the API tokens of the factory, to those who manage it', async () => {
  const { page, api, daemon, factory, visit, keep } = await openDashboard();
  await createWebhook(api, 'deploys');
  await makeToken(daemon, 'read', factory);
  await visit();
  await page.getByRole('link', { name: 'Status' }).click();
  await page.getByRole('link', { name: 'Audit log' }).click();
  const [changes, tokens] = [page.getByRole('table').nth(0), page.getByRole('table').nth(1)];
  await tokens.getByRole('row', { name: /^read-/ }).waitFor();
  expect(await textOf(changes.getByRole('row').nth(1))).toMatch(
    /token manage-\w+127\.0\.0\.1create webhook · deploys/,
  );
  await keep('audit');
});

browserTest('leads readers to no audit log', async () => {
  const { page, visit } = await openDashboard({ isReader: true });
  await visit('/status');
  await page.getByRole('heading', { name: 'Team secrets' }).waitFor();
  expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
});
