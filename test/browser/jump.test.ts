import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { browserTest, chooseInAccount, openDashboard, textOf } from './browser.ts';
import { automate, createWebhook, deliver, listRuns } from './samples.ts';

const field = (page: Page) => page.getByRole('combobox', { name: 'Name, ID, page or text in payloads' });
const options = (page: Page) => page.getByRole('option');
const placeOf = (page: Page) => new URL(page.url()).hash;

browserTest('jumps to names, IDs, pages and texts by the keyboard', async () => {
  const { api, page, factory, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'github');
  await automate(api, 'triage', webhook.uid);
  const delivery = await deliver(webhook, { text: 'refund' });
  const run = (await listRuns(api))[0]?.id ?? '';
  await visit('/overview');
  await page.getByRole('link', { name: 'github' }).waitFor();
  await page.keyboard.press('/');
  await field(page).waitFor();
  await expect.poll(() => options(page).count()).toBe(6);
  await page.keyboard.type('tri');
  await expect
    .poll(() => options(page).allTextContents())
    .toEqual(['triagegithub', 'Deliveries that contain “tri”']);
  await page.keyboard.press('ArrowDown');
  const second = await options(page).nth(1).getAttribute('id');
  await expect.poll(() => field(page).getAttribute('aria-activedescendant')).toBe(second);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => placeOf(page)).toBe(`#/${factory}/automations/triage`);
  expect(await field(page).count()).toBe(0);
  await page.keyboard.press('Control+k');
  await field(page).fill('failed');
  await page.keyboard.press('Enter');
  await expect.poll(() => placeOf(page)).toBe(`#/${factory}/runs?state=failed`);
  await page.getByRole('button', { name: 'Jump to an ID or name' }).click();
  await field(page).fill('refund');
  await page.getByRole('option', { name: 'Deliveries that contain “refund”' }).click();
  await expect.poll(() => placeOf(page)).toBe(`#/${factory}/deliveries?search=refund`);
  await page.keyboard.press('Control+k');
  await field(page).fill('nothing of the kind');
  await page.keyboard.press('Escape');
  await field(page).waitFor({ state: 'detached' });
  expect(placeOf(page)).toBe(`#/${factory}/deliveries?search=refund`);

  // A complete ID opens at once, and a part of one finds it.
  const paste = async (text: string) => {
    await page.keyboard.press('Control+k');
    await field(page).fill(text);
  };
  for (const [id, place] of [
    [delivery, 'deliveries'],
    [run, 'runs'],
    [webhook.uid, 'webhooks'],
  ] as const) {
    await paste(` ${id} `);
    await expect.poll(() => placeOf(page)).toBe(`#/${factory}/${place}/${id}`);
    await field(page).waitFor({ state: 'detached' });
  }
  await paste('alr_01m856whecx7r30kredhc56hrf');
  await expect
    .poll(() => placeOf(page))
    .toBe(`#/${factory}/settings/alerts?alert=alr_01m856whecx7r30kredhc56hrf`);
  for (const part of [`dlv_…${delivery.slice(-7)}`, delivery.slice(-7), delivery.slice(0, -3)]) {
    await paste(part);
    await page.getByRole('option', { name: delivery }).click();
    await expect.poll(() => placeOf(page)).toBe(`#/${factory}/deliveries/${delivery}`);
  }

  // Single keys can be switched off.
  await visit('/overview');
  await page.keyboard.press('?');
  const table = page.getByRole('dialog', { name: 'Keyboard' });
  await table.waitFor();
  expect(await textOf(table.getByRole('row', { name: 'Switch the factory' }))).toBe('gfSwitch the factory');
  await table.getByRole('checkbox', { name: 'Single keys' }).uncheck();
  await page.keyboard.press('Escape');
  await table.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('link', { name: 'github' }).waitFor();
  for (const key of ['/', '?', 'g', 'd']) await page.keyboard.press(key);
  expect([await page.getByRole('dialog').count(), placeOf(page)]).toEqual([0, `#/${factory}/overview`]);
  await page.keyboard.press('Control+k');
  await field(page).waitFor();
  await page.keyboard.press('Escape');
  await chooseInAccount(page, 'Keyboard');
  await table.getByRole('checkbox', { name: 'Single keys' }).check();
  await page.keyboard.press('Escape');
  for (const key of ['g', 'd']) await page.keyboard.press(key);
  await expect.poll(() => placeOf(page)).toBe(`#/${factory}/deliveries`);
});
