import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import { acceptedDelivery, rejectedDelivery } from '../support/deliveries.ts';
import { storeIn } from '../support/stored.ts';
import type { WebhookDaemon } from '../support/webhook-daemon.ts';
import { violations } from './axe.ts';
import {
  browserTest,
  type Dashboard,
  enter,
  keepScreenshot,
  makeToken,
  openDashboard,
  openPage,
  textOf,
} from './browser.ts';
import { inEachLook, readOverhang } from './looks.ts';
import { createWebhook, waitForHealth } from './samples.ts';

const hourMs = 3_600_000;

interface Past {
  readonly factory: string;
  readonly webhook: string;
  readonly uid: string;
  readonly accepted?: readonly number[];
  readonly rejected?: readonly number[];
}

/** Records deliveries of the past, each so many hours ago. */
async function record({ workspace }: WebhookDaemon, pasts: readonly Past[]): Promise<void> {
  const store = storeIn(homeAt(workspace.home));
  const log = await store.openDeliveryLog();
  const nowMs = Date.now();
  for (const { accepted = [], rejected = [], ...of } of pasts) {
    const at = (hours: number) => ({ ...of, atMs: nowMs - hours * hourMs });
    for (const hours of accepted) await log.recordAccepted(acceptedDelivery(at(hours)));
    for (const hours of rejected) log.recordUnidentified(rejectedDelivery(at(hours)));
  }
  await log.close();
  await store.close();
}

/** Makes a factory in which one webhook is healthy and one is failing. */
async function makeHome(): Promise<Pick<Dashboard, 'daemon' | 'factory'>> {
  const { api, daemon, factory } = await openDashboard();
  const deploys = await createWebhook(api, 'deploys');
  const payments = await createWebhook(api, 'payments');
  await createWebhook(api, 'spare', { enabled: false });
  const hours = Array.from({ length: 160 }, (_, hour) => hour);
  const healthy = { factory, webhook: 'deploys', uid: deploys.uid };
  const failing = { factory, webhook: 'payments', uid: payments.uid };
  await record(daemon, [
    { ...healthy, accepted: hours, rejected: [2, 2, 2, 30] },
    { ...failing, accepted: [5, 4], rejected: Array(40).fill(0) },
  ]);
  await waitForHealth(api, { [healthy.uid]: 'healthy', [failing.uid]: 'failing' });
  return { daemon, factory };
}

const currentHour = () => Math.floor(Date.now() / hourMs);
/** One for all tests that run in the same hour: the bars of the chart move on with the hours. */
let home: { readonly hour: number; readonly made: ReturnType<typeof makeHome> } | undefined;

/** Opens the home page as a reader of the factory, or of all factories. */
async function openHome(everything = false) {
  if (home?.hour !== currentHour()) home = { hour: currentHour(), made: makeHome() };
  const { daemon, factory } = await home.made;
  const page = await openPage();
  await enter(page, daemon, await makeToken(daemon, 'read', everything ? null : factory));
  await page.goto(daemon.managementUrl);
  await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
  return { page, factory, keep: (name: string) => keepScreenshot(page, name) };
}

const chart = (page: Page) => page.getByRole('slider', { name: /^Time in the last/ });

browserTest('the home page shows the health of each webhook, the failing one first', async () => {
  const { page, keep } = await openHome();
  await chart(page).waitFor();
  const rows = page.locator('tbody tr').filter({ has: page.locator('.sparkline') });
  await expect.poll(() => rows.count()).toBe(3);
  expect(await textOf(rows.nth(0))).toMatch(/payments.*Failing.*40/);
  expect(await textOf(rows.nth(1))).toMatch(/deploys.*Healthy/);
  expect(await textOf(rows.nth(2))).toMatch(/spare.*Disabled/);
  await keep('home');
  await rows.nth(0).getByRole('link', { name: 'payments' }).click();
  await page.getByRole('heading', { name: 'payments' }).waitFor();
});

browserTest('the chart tells each bar to the pointer, the keyboard and as a table', () =>
  withinAnHour(async () => {
    const { page } = await openHome();
    await chart(page).waitFor();
    const told = page.locator('.chart-told');
    expect(await textOf(told)).toBe('Last 24 hours: 26 accepted, 43 rejected');
    await chart(page).focus();
    await page.keyboard.press('End');
    await expect.poll(() => textOf(told)).toMatch(/: 1 Accepted, 40 Rejected \(auth\)$/);
    expect(await chart(page).getAttribute('aria-valuetext')).toBe(await textOf(told));
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => textOf(told)).toMatch(/: 1 Accepted, 3 Rejected \(auth\)$/);
    await page.keyboard.press('Home');
    await expect.poll(() => textOf(told)).toMatch(/: 1 Accepted$/);
    await page.keyboard.press('Escape');
    await expect.poll(() => textOf(told)).toBe('Last 24 hours: 26 accepted, 43 rejected');
    await chart(page).hover({ position: { x: 1, y: 20 } });
    await expect.poll(() => textOf(told)).toMatch(/: 1 Accepted$/);
    await page.mouse.move(0, 0);

    await page.getByText('7 days', { exact: true }).first().click();
    await expect.poll(() => textOf(told)).toBe('Last 7 days: 162 accepted, 44 rejected');
    await page.getByText('Show as a table').click();
    const rows = page.locator('.numbers tbody tr');
    expect(await rows.count()).toBeGreaterThan(26);
    expect(await textOf(page.locator('.numbers thead'))).toBe('TimeAcceptedRejected (auth)');
  }),
);

/** Looks again if an hour ended meanwhile, because the bars have moved on. */
async function withinAnHour(look: () => Promise<void>): Promise<void> {
  for (;;) {
    const hour = currentHour();
    try {
      return await look();
    } catch (error) {
      if (currentHour() === hour) throw error;
    }
  }
}

browserTest('with several factories, what needs attention comes first, and a factory opens', async () => {
  const { page, factory, keep } = await openHome(true);
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
  const attention = page.locator('section').filter({ hasText: 'Needs attention' });
  await attention.getByRole('link', { name: 'payments' }).first().waitFor();
  expect(await textOf(attention)).toContain(factory);
  await page.getByRole('button', { name: `${factory} 1 failing 1 healthy 1 never seen` }).click();
  await chart(page).waitFor();
  await keep('home-factories');
});

browserTest('of 100 factories, the worst stand first, and only those that are opened are read', async () => {
  const { page, daemon, visit } = await openDashboard({ isSignedOut: true });
  const names = Array.from({ length: 100 }, (_, index) => `factory-${String(index).padStart(2, '0')}`);
  const factories = names.map(factory => ({ factory, serial: 1, webhooks: 50, automations: 1 }));
  const overview = {
    factories: names.map((factory, index) => ({
      factory,
      counts: [
        ...(index === 70 ? [{ state: 'failing', webhooks: 2 }] : []),
        ...(index === 30 ? [{ state: 'quiet', webhooks: 9 }] : []),
        { state: 'healthy', webhooks: 40 },
      ],
    })),
    unhealthy: [],
    hasMore: false,
  };
  const read: string[] = [];
  await page.route('**/api/v1/factories', route => route.fulfill({ json: { factories } }));
  await page.route('**/api/v1/health', route => route.fulfill({ json: overview }));
  await page.route('**/api/v1/factories/*/health', route => {
    read.push(new URL(route.request().url()).pathname);
    return route.fulfill({ json: { since: new Date().toISOString(), webhooks: [] } });
  });
  await enter(page, daemon, await makeToken(daemon, 'read', null));
  await visit();
  const rows = page.locator('.factories > li');
  await expect.poll(() => rows.count()).toBe(100);
  expect(await textOf(rows.nth(0))).toBe('factory-702 failing40 healthy8 never seen');
  expect(await textOf(rows.nth(1))).toBe('factory-309 quiet40 healthy1 never seen');
  expect(await textOf(rows.nth(2))).toContain('factory-00');
  await page.getByText('4000 healthy', { exact: true }).waitFor();
  expect(read).toEqual([]);
  await rows.nth(0).getByRole('button').click();
  await page.getByText('No webhooks yet').waitFor();
  expect(read).toEqual(['/api/v1/factories/factory-70/health']);
});

browserTest(
  'axe finds nothing on the home page and the page of a webhook in any look, and nothing sticks out',
  async () => {
    const { page, factory, keep } = await openHome(true);
    const check = async (name: string) => {
      await chart(page).focus();
      await page.keyboard.press('End');
      await page.getByText('Show as a table').click();
      await page.getByRole('columnheader', { name: 'Rejected (auth)' }).waitFor();
      await inEachLook(page, async look => {
        expect(await violations(page, look), `${name}-${look}`).toEqual([]);
        expect(await readOverhang(page), `${name}-${look}`).toBeLessThanOrEqual(0);
        await keep(`${name}-${look}`);
      });
    };
    await page.getByRole('button', { name: new RegExp(`^${factory} `) }).click();
    await check('home');
    await page.locator('.factories').getByRole('link', { name: 'payments' }).click();
    await page.getByText('Recent deliveries').waitFor();
    await check('webhook-chart');
  },
);
