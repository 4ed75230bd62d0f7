// Whole tasks by the keyboard alone.
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { addSettings, browserTest, openDashboard } from './browser.ts';
import { automate, createWebhook, deliver, listRuns } from './samples.ts';

/** Runs print a line; the run of an automation with the name `endless` never ends. */
addSettings({
  runs: {
    attempts: 1,
    runner: {
      kind: 'command',
      argv: ['sh', '-c', 'echo "at work"; [ "$HOOKMILL_AUTOMATION" != endless ] || exec sleep 600'],
    },
  },
});

/** The hands of somebody without a pointer. */
function keyboardOf(page: Page) {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** What a screen reader would call the element with the focus. */
  const focused = () =>
    page.evaluate<string>(`(() => {
      const element = document.activeElement;
      const label = element.labels?.[0]?.textContent;
      return (element.getAttribute('aria-label') ?? label ?? element.textContent ?? '').trim();
    })()`);
  /** Whether an outline or a border shows where the focus is. */
  const isVisible = () =>
    page.evaluate<boolean>(`(() => {
      const shown = [document.activeElement, document.activeElement.closest('label')].filter(Boolean);
      return shown.some(element => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
      });
    })()`);
  const tabTo = async (name: string, key = 'Tab') => {
    const passed: string[] = [];
    for (let tabs = 0; tabs < 60; tabs++) {
      await press(key);
      const here = await focused();
      passed.push(here.slice(0, 30));
      if (!here.startsWith(name)) continue;
      expect(await isVisible(), `the focus on ${name} is visible`).toBe(true);
      return;
    }
    throw new Error(`no way to ${name} by ${key}: ${passed.join(' | ')}`);
  };
  /** Opens the menu of the button with the focus, and chooses an entry. */
  const choose = async (entry: string) => {
    await press('Enter');
    for (let downs = 0; downs < 20; downs++) {
      if ((await focused()).startsWith(entry)) return press('Enter');
      await press('ArrowDown');
    }
    throw new Error(`no entry ${entry}`);
  };
  return { press, focused, tabTo, choose, type: (text: string) => page.keyboard.type(text) };
}

browserTest('finds, replays and cancels by the keyboard', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  for (let count = 0; count < 3; count++) await deliver(webhook, { count });
  await webhook.post({ count: 3 }, 'wrong');
  await visit('/overview');
  const { press, tabTo, focused } = keyboardOf(page);
  await page.getByRole('link', { name: 'Deliveries' }).first().waitFor();
  await press('g', 'd');
  await page.getByText('Exceptions').waitFor();
  await tabTo('Exceptions');
  await press('Space');
  await expect.poll(() => page.locator('a.row').count()).toBe(1);
  await press('j');
  await expect.poll(focused).toContain('deploys');
  await press('Enter');
  await page.getByRole('article', { name: 'Delivery' }).getByText('Wrong').first().waitFor();
  await press('Escape');
  await expect.poll(() => page.url()).not.toContain('dlv_');

  await automate(api, 'triage', webhook.uid, { state: ['failed'] });
  const id = await deliver(webhook, { state: 'failed' });
  await visit('/deliveries');
  await page.locator(`[data-key="${id}"]`).waitFor();
  await press('j');
  await expect.poll(focused).toContain('deploys');
  await press('Enter');
  await page.getByRole('button', { name: 'Replay…' }).waitFor();
  await press('Shift+R');
  await page.getByRole('dialog').waitFor();
  await tabTo('Start runs');
  await press('Enter');
  await page.getByText('Started 1 run').waitFor();
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.locator('.run-line', { hasText: 'replay' }).waitFor();
  await tabTo('triage');
  await press('Enter');
  await expect.poll(() => page.url()).toContain('/runs/run_');
  const { runs } = await api<{ runs: readonly { readonly replay: boolean }[] }>(
    'GET',
    `/runs?delivery=${id}`,
  );
  expect(runs.map(({ replay }) => replay).sort()).toEqual([false, true]);

  await automate(api, 'endless', webhook.uid, { state: ['endless'] });
  await deliver(webhook, { state: 'endless' });
  const readRun = async () => (await listRuns(api))[0];
  await eventually(async () => (await readRun())?.state === 'running');
  await visit('/overview');
  await page.getByRole('link', { name: 'Runs' }).first().waitFor();
  await press('g', 'r');
  await page.locator('a.row').nth(2).waitFor();
  await press('j');
  await expect.poll(focused).toContain('endless');
  await press('Enter');
  await page.getByRole('button', { name: 'Cancel run' }).waitFor();
  await tabTo('Cancel run');
  await press('Enter');
  await eventually(async () => (await readRun())?.state === 'cancelled');
  await page.getByText('cancelled').first().waitFor();
});

browserTest('adds a webhook by the keyboard, rotates its secret, and deletes it', async () => {
  const { page, api, visit } = await openDashboard();
  await createWebhook(api, 'deploys');
  await visit('/webhooks');
  const { press, tabTo, focused, choose, type } = keyboardOf(page);
  await page.getByRole('link', { name: 'deploys' }).first().waitFor();
  await tabTo('New webhook');
  await press('Enter');
  // The page before has a search as well, and stays until the address is followed.
  await page.getByRole('searchbox', { name: /^Find your sender/ }).waitFor();
  await tabTo('Find your sender');
  await type('github');
  await press('Enter');
  await page.getByLabel('Name', { exact: true }).waitFor();
  await tabTo('Name');
  await type('github-of-the-shop');
  await tabTo('Create webhook');
  await press('Enter');
  await page.getByRole('button', { name: 'Copy secret' }).waitFor();
  await tabTo('Copy secret');
  await press('Enter');
  // Until then, the page asks before it is left.
  await expect.poll(focused).toBe('Copied secret');
  await tabTo('More');
  await choose('Rotate the secret…');
  await page.getByRole('button', { name: 'Rotate secret' }).waitFor();
  await tabTo('Rotate secret');
  await press('Enter');
  await page.getByText('I have stored it').waitFor();
  await tabTo('I have stored it');
  await press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
  const { webhooks } = await api<{ webhooks: readonly { readonly name: string }[] }>('GET', '/webhooks');
  expect(webhooks.map(({ name }) => name)).toContain('github-of-the-shop');
  await expect.poll(focused).toContain('More');
  await choose('Delete…');
  await expect.poll(focused).toBe('Keep it');
  await press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await expect.poll(focused).toContain('More');
  await choose('Delete…');
  await page.getByRole('dialog').waitFor();
  await tabTo('Delete github-of-the-shop');
  await press('Enter');
  await expect.poll(focused).toBe('Webhooks');
  await page.getByRole('link', { name: 'github-of-the-shop' }).waitFor({ state: 'detached' });
});
