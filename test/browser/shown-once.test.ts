import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest, chooseFromMenu, openDashboard, openNewWebhook, textOf } from './browser.ts';
import { createWebhook } from './samples.ts';

/** Everything that the page holds, and its history. */
const everywhere = `JSON.stringify([
  document.documentElement.outerHTML,
  [...document.querySelectorAll('input, textarea, select')].map(field => field.value),
  { ...localStorage }, { ...sessionStorage }, document.cookie,
  history.state, location.href, document.referrer, document.title, window.name,
  performance.getEntries().map(entry => entry.name),
])`;

browserTest('a secret that was shown once is kept nowhere', async () => {
  const dashboard = await openDashboard();
  const { page, daemon } = dashboard;
  const answers: string[] = [];
  const requests: string[] = [];
  await page.route(/\/api\/v1\/(?!.*live-deliveries)/, async route => {
    const request = route.request();
    requests.push(JSON.stringify([request.url(), request.headers(), request.postData()]));
    const response = await route.fetch();
    answers.push(await response.text());
    await route.fulfill({ response });
  });

  await openNewWebhook(dashboard, 'uptime', 'Token in the URL');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const url = await textOf(page.locator('.path .copyline code').first());
  const created = url.slice(url.lastIndexOf('/') + 1);
  expect(created).toMatch(/^[\w-]{43}$/);
  expect(await page.evaluate<string>(everywhere)).toContain(created);
  await page.getByRole('button', { name: 'Copy ingress URL' }).click();
  await page.getByRole('button', { name: 'Copied ingress URL' }).waitFor();
  await page.getByRole('heading', { level: 1, name: 'uptime' }).waitFor();
  await chooseFromMenu(page, 'Rotate the secret…');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
  const rotated = (await textOf(page.locator('.revealed code').first())).split('/').at(-1) ?? '';
  expect(rotated).toMatch(/^[\w-]{43}$/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });

  for (const look of [there, back, reloaded]) {
    await look(page);
    const known = await page.evaluate<string>(everywhere);
    expect(known).not.toContain(created);
    expect(known).not.toContain(rotated);
  }
  await page.unrouteAll({ behavior: 'wait' });
  expect(requests.filter(request => request.includes(created) || request.includes(rotated))).toEqual([]);
  // Only the answers that created and rotated it.
  expect(answers.filter(text => text.includes(created) || text.includes(rotated))).toHaveLength(2);
  expect(filesWith(daemon.workspace.home, [created, rotated])).toEqual([]);
  expect(daemon.logged()).not.toContain(created);
});

browserTest('a secret that was shown once stays until the user has stored it', async () => {
  const dashboard = await openDashboard();
  const { page, api, visit } = dashboard;
  await openNewWebhook(dashboard, 'deploys');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const secret = await textOf(page.locator('.path .copyline code').nth(1));
  const dialog = page.getByRole('dialog', { name: 'Leave without the secret?' });
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await dialog.getByRole('button', { name: 'Stay' }).click();
  expect(await textOf(page.locator('.path .copyline code').nth(1))).toBe(secret);
  // The first step back is the page itself, which stayed.
  for (const _ of [1, 2]) await page.goBack();
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.content()).toContain(secret);

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy secret' }).click();
  await page.getByRole('button', { name: 'Copied secret' }).waitFor();
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
  await page.getByRole('link', { name: /deploys/ }).click();
  await page.getByRole('button', { name: /^More: / }).waitFor();
  await page.getByText('Bearer token').waitFor();
  expect(await page.content()).not.toContain(secret);

  await openNewWebhook(dashboard, 'orders');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const lost = await textOf(page.locator('.path .copyline code').nth(1));
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  expect(await page.content()).not.toContain(lost);

  const { uid } = await createWebhook(api, 'builds');
  await visit('/webhooks');
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await visit(`/webhooks/${uid}`);
  await chooseFromMenu(page, 'Rotate the secret…');
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
  const rotated = await textOf(page.locator('.revealed code'));
  const expectShown = async () => {
    await page.getByRole('dialog').waitFor();
    expect(await textOf(page.locator('.revealed code'))).toBe(rotated);
  };

  // The second one closes a dialog that refuses the first.
  for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
  await expectShown();
  await page.mouse.click(2, 2);
  const link = await page.getByRole('link', { name: 'Settings' }).boundingBox();
  await page.mouse.click(link?.x ?? 0, link?.y ?? 0);
  await expectShown();
  const [question] = await Promise.all([
    page.waitForEvent('dialog'),
    page.evaluate('setTimeout(() => location.reload())'),
  ]);
  expect(question.type()).toBe('beforeunload');
  await question.dismiss();
  await expectShown();
  await page.context().clearCookies();
  const refused = page.waitForResponse(answer => answer.status() === 401);
  await refused;
  await expectShown();
  await page.goBack();
  await expectShown();

  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('dialog', { name: 'Your session has expired' }).waitFor();
  expect(await page.content()).not.toContain(rotated);
});

async function there(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1, name: 'uptime' }).waitFor();
}

/** Goes back to the page that showed the secret: the form is empty again. */
async function back(page: Page): Promise<void> {
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'New webhook' }).waitFor();
}

async function reloaded(page: Page): Promise<void> {
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'New webhook' }).waitFor();
}

function filesWith(directory: string, secrets: readonly string[]): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(file => secrets.some(secret => readFileSync(file).includes(secret)));
}
