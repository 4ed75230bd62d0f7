import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import { acceptedDelivery, rejectedDelivery } from '../support/deliveries.ts';
import { eventually } from '../support/eventually.ts';
import { storeIn } from '../support/stored.ts';
import type { WebhookDaemon } from '../support/webhook-daemon.ts';
import {
  type Api,
  browserTest,
  type Dashboard,
  enter,
  makeToken,
  openDashboard,
  openPage,
  textOf,
} from './browser.ts';
import { automate, createWebhook, deliver, waitForHealth } from './samples.ts';

const hourMs = 3_600_000;

interface Alert {
  readonly type: string;
  readonly acknowledged: object | null;
}

const listAlerts = async (api: Api) => (await api<{ alerts: readonly Alert[] }>('GET', '/alerts')).alerts;

interface Health {
  readonly webhooks: readonly { readonly tallies: readonly { readonly hours: readonly number[] }[] }[];
}

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

async function countTallied(api: Api): Promise<number> {
  const { webhooks } = await api<Health>('GET', '/health');
  return webhooks.flatMap(({ tallies }) => tallies.flatMap(({ hours }) => hours)).reduce((a, b) => a + b, 0);
}

/** Opens a factory in which one webhook is healthy and one is failing, and a failed run holds another one. */
async function openTroubled(): Promise<Dashboard> {
  const dashboard = await openDashboard({ browser: { viewport: { width: 1280, height: 900 } } });
  const { api, daemon, factory } = dashboard;
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
  const keys = { order: '$.issue', onFailure: 'hold', attempts: 1 };
  await automate(api, 'triage', deploys.uid, { state: ['failed'] }, keys);
  for (const step of [1, 2]) await deliver(deploys, { state: 'failed', issue: 481, step });
  await waitForHealth(api, { [healthy.uid]: 'healthy', [failing.uid]: 'failing' });
  await eventually(async () => (await listAlerts(api)).length === 2);
  // The daemon may judge a webhook when it has tallied only some of its deliveries.
  await eventually(async () => (await countTallied(api)) === 164 + 44);
  return dashboard;
}

/** Opens the overview as somebody else in a browser of their own. */
async function openAs(daemon: WebhookDaemon, factory: string | null): Promise<Page> {
  const page = await openPage();
  await enter(page, daemon, await makeToken(daemon, 'read', factory));
  await page.goto(daemon.managementUrl);
  await page.getByRole('heading', { level: 1, name: /attention$/ }).waitFor();
  return page;
}

const attention = (page: Page) => page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
const bars = (page: Page) => page.locator('.plot').getByRole('button');

const currentHour = () => Math.floor(Date.now() / hourMs);

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

browserTest('says what needs attention, with its cause and one button, and in numbers and bars', () =>
  withinAnHour(async () => {
    const { page, daemon, factory, api, visit } = await openTroubled();
    await visit('/overview');
    await expect.poll(() => bars(page).count()).toBe(24);
    const figure = (name: string) => page.locator('.figures > a', { hasText: name });
    await expect.poll(() => textOf(figure('Accepted'))).toBe('Accepted28+17 % on the day before');
    expect(await textOf(figure('Rejected'))).toMatch(/^Rejected43usually 0; 40 since \d\d:00$/);
    expect(await textOf(figure('Runs'))).toBe('Runs0 succeeded1 failed · 0 running · 1 queued');
    expect(await textOf(figure('Median time'))).toMatch(
      /^Median time to run end, 24 hours\d+(\.\d)? m?sslowest 10 %: over/,
    );
    const tip = page.locator('.tip');
    const focused = () => page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
    await bars(page).last().focus();
    await expect.poll(() => textOf(tip)).toMatch(/accepted3duplicate0rejected40Click to list these 43$/);
    expect(await focused()).toMatch(/^\d\d:00: 3 accepted, 0 duplicate, 40 rejected\. List them$/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(focused).toMatch(/: 1 accepted, 0 duplicate, 3 rejected/);
    await page.keyboard.press('Home');
    await expect.poll(focused).toMatch(/: 1 accepted, 0 duplicate, 0 rejected/);
    await page.keyboard.press('Escape');
    await tip.waitFor({ state: 'detached' });
    await bars(page).nth(21).hover();
    await expect.poll(() => textOf(tip)).toMatch(/rejected3/);
    await page.mouse.move(0, 0);
    const rows = page.locator('.chart table tbody tr');
    expect(await rows.count()).toBe(24);
    expect(await textOf(page.locator('.chart thead'))).toBe('Timeacceptedduplicaterejected');
    expect(await textOf(rows.nth(0))).toMatch(/3040$/);
    await page.getByRole('button', { name: '7 days' }).click();
    await expect.poll(() => textOf(figure('Accepted'))).toMatch(/^Accepted164\d+ a day$/);
    await expect.poll(() => bars(page).count()).toBe(42);
    await bars(page).last().focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain('/deliveries?');
    const query = new URLSearchParams(page.url().split('?')[1]);
    expect(Date.parse(query.get('until') ?? '') - Date.parse(query.get('since') ?? '')).toBe(4 * hourMs);
    await visit('/overview');
    await page.getByRole('heading', { level: 1, name: '2 things need attention' }).waitFor();
    await expect.poll(() => page.title()).toBe('(2) Overview · hookmill');
    const [failing, held] = [attention(page).nth(0), attention(page).nth(1)];
    await failing.getByText('token').first().waitFor();
    expect(await textOf(failing)).toMatch(
      /^payments rejects deliveries ?since \d\d:\d\d, .*See the rejected$/,
    );
    await held.getByText('failed after 1 attempt').waitFor();
    expect(await textOf(held)).toMatch(
      /^triage holds runs of 481.*the command exited with status 3.*wait until it is retried or dismissed/,
    );
    await held.getByRole('link', { name: 'Open the run' }).click();
    await expect.poll(() => page.url()).toMatch(/\/runs\/run_\w{26}$/);
    expect(await textOf(page.getByRole('navigation', { name: 'Main' }).first())).toContain(
      'Overview 2 need attention',
    );
    await page.goBack();
    await failing.getByRole('link', { name: 'See the rejected' }).click();
    await expect
      .poll(() => decodeURIComponent(page.url()))
      .toMatch(/\/deliveries\?webhook=wh_\w+&outcome=Rejected/);
    await visit('/overview');
    const webhooks = page.locator('main table.edge tbody tr');
    await expect.poll(() => webhooks.count()).toBe(3);
    expect(await textOf(webhooks.nth(0))).toMatch(/payments.*Failing.*40$/);
    expect(await textOf(webhooks.nth(1))).toMatch(/deploys.*Healthy/);
    expect(await textOf(webhooks.nth(2))).toMatch(/spare.*Disabled/);
    await webhooks.nth(0).getByRole('link', { name: 'payments' }).click();
    await page.getByRole('heading', { name: 'payments' }).waitFor();
    // The page of the webhook lists its own alert only.
    await attention(page).getByRole('link', { name: 'See the rejected' }).waitFor();
    expect(await textOf(attention(page))).toMatch(/^payments rejects deliveries ?since \d\d:\d\d, /);
    await attention(page).getByRole('button', { name: 'More: payments rejects deliveries' }).waitFor();

    // A reader of all factories sees the name of each, and cannot acknowledge anything.
    await readAll(await openAs(daemon, null), factory);

    // A muted alert moves to the list below, and needs no attention.
    await visit('/overview');
    const muted = { at: new Date(Date.now() + 2 * hourMs).toISOString(), by: 'dana' };
    await page.route('**/api/v1/factories/*/status', async route => {
      const response = await route.fetch();
      const { attention, ...others } = await response.json();
      const items = attention.map((each: Alert) => ({ ...each, muted }));
      await route.fulfill({ json: { ...others, attention: items } });
    });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Nothing else needs attention' }).waitFor();
    await expect.poll(() => page.title()).toBe('Overview · hookmill');
    const lines = await page.locator('.acked').allTextContents();
    expect(lines.at(-1)).toMatch(/^Muted: .*payments.* · by dana until /);
    await page.getByText('live', { exact: true }).waitFor();
    expect((await listAlerts(api)).length).toBeGreaterThan(0);
    await page.unroute('**/api/v1/factories/*/status');

    // An acknowledged alert moves to the line below, and is no longer counted.
    await page.reload();
    await page.getByRole('heading', { level: 1, name: /attention$/ }).waitFor();
    await attention(page).nth(1).getByRole('button', { name: 'More: triage holds runs' }).click();
    await page.getByRole('menuitem', { name: 'Acknowledge' }).click();
    await page.getByRole('heading', { level: 1, name: '1 thing needs attention' }).waitFor();
    await expect.poll(() => page.title()).toBe('(1) Overview · hookmill');
    expect(await textOf(page.locator('.acked'))).toMatch(
      /^Acknowledged: triage holds runs for .* · by manage-\w+ at \d\d:\d\d$/,
    );
    expect((await listAlerts(api)).filter(({ acknowledged }) => acknowledged)).toMatchObject([
      { type: 'runs.held' },
    ]);
    await attention(page).getByRole('button', { name: 'More: payments' }).click();
    await page.getByRole('menuitem', { name: 'Acknowledge' }).click();
    await page.getByRole('heading', { level: 1, name: 'Nothing else needs attention' }).waitFor();
    await expect.poll(() => page.title()).toBe('Overview · hookmill');
  }),
);

/** Reads the overview of all factories. */
async function readAll(page: Page, factory: string): Promise<void> {
  const failing = attention(page).filter({ hasText: `${factory} / payments` });
  await failing.waitFor();
  await page.locator('main table.edge tbody tr', { hasText: `${factory} / deploys` }).waitFor();
  expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0);
  // A bar of several factories leads to one with the most.
  const label = await bars(page).last().getAttribute('aria-label');
  const [, most] = /List those of ([\w-]+)$/.exec(label ?? '') ?? [];
  await bars(page).last().click();
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
  expect(page.url()).toContain(`#/${most}/deliveries?since=`);
  await page.goBack();
  await failing.getByRole('link', { name: 'payments' }).click();
  await page.getByRole('heading', { name: 'payments' }).waitFor();
}

browserTest('leads to the first delivery, and then says whether all is well', async () => {
  const { page, api, visit } = await openDashboard();
  await page.clock.install();
  await visit('/overview');
  await page.getByRole('heading', { level: 1, name: 'Receive your first webhook' }).waitFor();
  const steps = page.getByRole('list', { name: 'To the first webhook' }).getByRole('listitem');
  expect(await textOf(steps.nth(0))).toMatch(/^Add a webhook.*hookmill --factory test-\d+ add github/s);
  await steps.nth(0).getByRole('link', { name: 'New webhook' }).click();
  await page.getByRole('heading', { name: 'New webhook' }).waitFor();
  await visit('/overview');
  const webhook = await createWebhook(api, 'deploys');
  const look = async () => page.clock.runFor(21_000);
  await eventually(async () => {
    await look();
    return (await textOf(steps.nth(0))) === 'Add a webhook (done)';
  });
  expect(await textOf(steps.nth(1))).toContain('send deploys --payload event.json');
  expect(await textOf(steps.nth(2))).toContain(webhook.uid);
  await automate(api, 'act', webhook.uid);
  await eventually(async () => {
    await look();
    return (await textOf(steps.nth(2))) === 'Act on it (done)';
  });
  await deliver(webhook, {});
  await eventually(async () => {
    await look();
    return page.getByRole('heading', { level: 1, name: 'All is well' }).isVisible();
  });

  // What the last episode was.
  const nowMs = await page.evaluate<number>('Date.now()');
  const until = new Date(nowMs - 14 * hourMs).toISOString();
  const last = { status: 'resolved', type: 'runs.failing', automation: 'sentry-fix', webhook: null, until };
  await page.route('**/api/v1/factories/*/alerts', route => route.fulfill({ json: { alerts: [last] } }));
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'All is well' }).waitFor();
  await page.getByText('The last episode ended 14 h ago: Runs of sentry-fix fail').waitFor();
  await expect.poll(() => page.title()).toBe('Overview · hookmill');
  await page.unrouteAll();

  await page.route('**/api/v1/alerts', route =>
    route.fulfill({ json: { alerts: [], logTrouble: 'the disk is full' } }),
  );
  await page.reload();
  await page.getByRole('heading', { level: 1, name: '1 thing needs attention' }).waitFor();
  expect(await textOf(attention(page))).toBe('Deliveries cannot be recordedThe disk is full.');
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
    return route.fulfill({ json: { since: new Date().toISOString(), webhooks: [], pauses: [] } });
  });
  await enter(page, daemon, await makeToken(daemon, 'read', null));
  await visit();
  const rows = page.locator('.factories tbody tr');
  await expect.poll(() => rows.count()).toBe(100);
  const cells = async (row: number) => (await rows.nth(row).getByRole('cell').allTextContents()).join();
  expect(await cells(0)).toBe('factory-70,2,0,40,8,0');
  expect(await cells(1)).toBe('factory-30,0,9,40,1,0');
  expect(await textOf(rows.nth(2))).toContain('factory-00');
  expect(read).toEqual([]);
  await rows.nth(0).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Receive your first webhook' }).waitFor();
  expect(read).toEqual(['/api/v1/factories/factory-70/health']);
});
