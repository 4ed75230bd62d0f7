import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Permission } from '../../schema/grant.ts';
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
  keepScreenshot,
  makeToken,
  openDashboard,
  openPage,
  textOf,
} from './browser.ts';
import { createWebhook, deliver, triggerOn, waitForHealth } from './samples.ts';

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

/** Makes a factory in which one webhook is healthy and one is failing, and a failed run holds another one. */
async function makeFactory(): Promise<Pick<Dashboard, 'daemon' | 'factory' | 'api'>> {
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
  const keys = { order: '$.issue', onFailure: 'hold', attempts: 1 };
  const triggers = [triggerOn(deploys.uid, { state: ['failed'] })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers, ...keys });
  for (const step of [1, 2]) await deliver(deploys, { state: 'failed', issue: 481, step });
  await waitForHealth(api, { [healthy.uid]: 'healthy', [failing.uid]: 'failing' });
  await eventually(async () => (await listAlerts(api)).length === 2);
  // The daemon may judge a webhook when it has tallied only some of its deliveries.
  await eventually(async () => (await countTallied(api)) === 164 + 44);
  return { daemon, factory, api };
}

const currentHour = () => Math.floor(Date.now() / hourMs);
/** One for all tests that run in the same hour: the bars of the chart move on with the hours. */
let ofHour: { readonly hour: number; readonly made: ReturnType<typeof makeFactory> } | undefined;

/** Opens the overview as somebody who may read or manage the factory, or all of them. */
async function openOverview({
  permission = 'read',
  isOfAll = false,
}: {
  permission?: Permission;
  isOfAll?: boolean;
} = {}) {
  if (ofHour?.hour !== currentHour()) ofHour = { hour: currentHour(), made: makeFactory() };
  const { daemon, factory, api } = await ofHour.made;
  const page = await openPage({ viewport: { width: 1280, height: 900 } });
  await enter(page, daemon, await makeToken(daemon, permission, isOfAll ? null : factory));
  await page.goto(daemon.managementUrl);
  await page.getByRole('heading', { level: 1, name: /attention$/ }).waitFor();
  return { page, daemon, factory, api, keep: (name: string) => keepScreenshot(page, name) };
}

const attention = (page: Page) => page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
const bars = (page: Page) => page.locator('.plot').getByRole('button');

browserTest('says what needs attention, the worst first, with its cause and one button', async () => {
  const { page, factory, keep } = await openOverview();
  await page.getByRole('heading', { level: 1, name: '2 things need attention' }).waitFor();
  await expect.poll(() => page.title()).toBe('(2) Overview · hookmill');
  const [failing, held] = [attention(page).nth(0), attention(page).nth(1)];
  await failing.getByText('token').first().waitFor();
  expect(await textOf(failing)).toMatch(/^payments rejects deliveries ?since \d\d:\d\d, .*See the rejected$/);
  await held.getByText('failed after 1 attempt').waitFor();
  expect(await textOf(held)).toMatch(
    /^triage holds runs of 481.*the command exited with status 3.*wait until it is retried or dismissed/,
  );
  // A reader cannot acknowledge.
  expect(await page.getByRole('button', { name: 'More' }).count()).toBe(0);
  await keep('overview');
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
  expect(factory).not.toBe('');
});

browserTest('lists the webhooks, the failing one first', async () => {
  const { page } = await openOverview();
  const rows = page.locator('main table.edge tbody tr');
  await expect.poll(() => rows.count()).toBe(3);
  expect(await textOf(rows.nth(0))).toMatch(/payments.*Failing.*40$/);
  expect(await textOf(rows.nth(1))).toMatch(/deploys.*Healthy/);
  expect(await textOf(rows.nth(2))).toMatch(/spare.*Disabled/);
  await rows.nth(0).getByRole('link', { name: 'payments' }).click();
  await page.getByRole('heading', { name: 'payments' }).waitFor();
});

browserTest('shows four numbers beside what is usual', () =>
  withinAnHour(async () => {
    const { page } = await openOverview();
    const figure = (name: string) => page.locator('.figures > a', { hasText: name });
    await expect.poll(() => textOf(figure('Accepted'))).toBe('Accepted28+17 % on the day before');
    expect(await textOf(figure('Rejected'))).toMatch(/^Rejected43usually 0; 40 since \d\d:00$/);
    expect(await textOf(figure('Runs'))).toBe('Runs0 succeeded1 failed · 0 running · 1 queued');
    expect(await textOf(figure('Median time'))).toMatch(
      /^Median time to run end, 24 hours\d+(\.\d)? m?sslowest 10 %: over/,
    );
    await page.getByRole('button', { name: '7 days' }).click();
    await expect.poll(() => textOf(figure('Accepted'))).toMatch(/^Accepted164\d+ a day$/);
  }),
);

browserTest(
  'the chart tells each bar to the pointer, the keyboard and as a table, and lists its deliveries',
  () =>
    withinAnHour(async () => {
      const { page } = await openOverview();
      await expect.poll(() => bars(page).count()).toBe(24);
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
      await expect.poll(() => bars(page).count()).toBe(42);
      await bars(page).last().focus();
      await page.keyboard.press('Enter');
      const { query } = await readAddress(page);
      expect(Date.parse(query.get('until') ?? '') - Date.parse(query.get('since') ?? '')).toBe(4 * hourMs);
    }),
);

async function readAddress(page: Page) {
  await expect.poll(() => page.url()).toContain('/deliveries?');
  return { query: new URLSearchParams(page.url().split('?')[1]) };
}

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

browserTest('what somebody acknowledges moves to the line below, and counts no more', async () => {
  const { page, api, factory, keep } = await openOverview({ permission: 'manage' });
  // Nobody else's test counts on it afterwards.
  ofHour = undefined;
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
  await keep('overview-acknowledged');
  await attention(page).getByRole('button', { name: 'More: payments' }).click();
  await page.getByRole('menuitem', { name: 'Acknowledge' }).click();
  await page.getByRole('heading', { level: 1, name: 'Nothing else needs attention' }).waitFor();
  await expect.poll(() => page.title()).toBe('Overview · hookmill');
  expect(factory).not.toBe('');
});

browserTest('what somebody has muted is listed below, and needs no attention', async () => {
  const { page, api } = await openOverview({ permission: 'manage' });
  const muted = { at: new Date(Date.now() + 2 * hourMs).toISOString(), by: 'dana' };
  await page.route('**/api/v1/alerts', async route => {
    const response = await route.fetch();
    const { alerts, ...others } = await response.json();
    await route.fulfill({ json: { ...others, alerts: alerts.map((each: Alert) => ({ ...each, muted })) } });
  });
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Nothing else needs attention' }).waitFor();
  await expect.poll(() => page.title()).toBe('Overview · hookmill');
  const lines = await page.locator('.acked').allTextContents();
  expect(lines.at(-1)).toMatch(/^Muted: .*payments.* · by dana until /);
  await page.getByText('live', { exact: true }).waitFor();
  expect((await listAlerts(api)).length).toBeGreaterThan(0);
});

browserTest('says that the branch, the log and the applied state are not as they should be', async () => {
  const { page, factory, api, visit, keep } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await deliver(webhook, {});
  const now = new Date().toISOString();
  const diagnostics = [
    {
      ...{ code: 'secret-missing', severity: 'error', file: 'webhooks/linear.yaml' },
      ...{ message: 'the team secret LINEAR has no value', hint: 'run `hookmill secrets set LINEAR`' },
    },
  ];
  const lastFailure = { at: now, reason: 'invalid', message: 'cannot be applied', tip: null, diagnostics };
  const reconcile = {
    followed: { repository: 'r', branch: 'main', path: '' },
    ...{
      suspendedAt: null,
      tip: null,
      commitsBehind: null,
      lastSuccess: null,
      lastFailure,
      failingSince: now,
    },
  };
  await page.route('**/api/v1/factories/*/status', async route => {
    const status = await (await route.fetch()).json();
    const changedByHand = [{ at: now, webhook, enabled: false, enabledInFile: true }];
    await route.fulfill({
      json: { ...status, reconcile, revision: '3f9a1c2'.padEnd(40, '0'), changedByHand },
    });
  });
  await page.route('**/api/v1/alerts', route =>
    route.fulfill({ json: { alerts: [], logTrouble: 'the disk is full' } }),
  );
  await visit('/overview');
  await page.getByRole('heading', { level: 1, name: '3 things need attention' }).waitFor();
  expect(await attention(page).allTextContents()).toEqual([
    'Deliveries cannot be recordedThe disk is full.',
    expect.stringMatching(
      /^main cannot be applied; 3f9a1c2 is still livesince .*webhooks\/linear.yaml: the team secret LINEAR has no value\. Run hookmill secrets set LINEAR\.Copy command$/,
    ),
    expect.stringMatching(
      /^The applied state differs from the files.*Deploys is disabled here, and enabled in its file\.See the drift$/,
    ),
  ]);
  await keep('overview-branch');
  expect(factory).not.toBe('');
});

browserTest('says that all is well, and what the last episode was', async () => {
  const { page, api, visit, keep } = await openDashboard();
  await deliver(await createWebhook(api, 'deploys'), {});
  const until = new Date(Date.now() - 14 * hourMs).toISOString();
  const last = { status: 'resolved', type: 'runs.failing', automation: 'sentry-fix', webhook: null, until };
  await page.route('**/api/v1/factories/*/alerts', route => route.fulfill({ json: { alerts: [last] } }));
  await visit('/overview');
  await page.getByRole('heading', { level: 1, name: 'All is well' }).waitFor();
  await page.getByText('The last episode ended 14 h ago: Runs of sentry-fix fail').waitFor();
  await expect.poll(() => page.title()).toBe('Overview · hookmill');
  await keep('overview-well');
});

browserTest('leads to the first delivery, in steps that tick themselves off', async () => {
  const { page, api, visit, keep } = await openDashboard();
  await page.clock.install();
  await visit('/overview');
  await page.getByRole('heading', { level: 1, name: 'Receive your first webhook' }).waitFor();
  const steps = page.getByRole('list', { name: 'To the first webhook' }).getByRole('listitem');
  expect(await textOf(steps.nth(0))).toMatch(/^Add a webhook.*hookmill --factory test-\d+ add github/s);
  await keep('empty');
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
  await api('POST', '/automations', { name: 'act', prompt: 'Act.', triggers: [triggerOn(webhook.uid)] });
  await eventually(async () => {
    await look();
    return (await textOf(steps.nth(2))) === 'Act on it (done)';
  });
  await deliver(webhook, {});
  await eventually(async () => {
    await look();
    return page.getByRole('heading', { level: 1, name: 'All is well' }).isVisible();
  });
});

browserTest('with several factories, each subject has the name of its factory', async () => {
  const { page, factory, keep } = await openOverview({ isOfAll: true });
  const failing = attention(page).filter({ hasText: `${factory} / payments` });
  await failing.waitFor();
  await page.locator('main table.edge tbody tr', { hasText: `${factory} / deploys` }).waitFor();
  await keep('overview-factories');
  // A bar of several factories leads to one with the most.
  const label = await bars(page).last().getAttribute('aria-label');
  const [, most] = /List those of ([\w-]+)$/.exec(label ?? '') ?? [];
  await bars(page).last().click();
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
  expect(page.url()).toContain(`#/${most}/deliveries?since=`);
  await page.goBack();
  await failing.getByRole('link', { name: 'payments' }).click();
  await page.getByRole('heading', { name: 'payments' }).waitFor();
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
  expect(await rows.nth(0).getByRole('cell').allTextContents()).toEqual([
    'factory-70',
    '2',
    '0',
    '40',
    '8',
    '0',
  ]);
  expect(await rows.nth(1).getByRole('cell').allTextContents()).toEqual([
    'factory-30',
    '0',
    '9',
    '40',
    '1',
    '0',
  ]);
  expect(await textOf(rows.nth(2))).toContain('factory-00');
  expect(read).toEqual([]);
  await rows.nth(0).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Receive your first webhook' }).waitFor();
  expect(read).toEqual(['/api/v1/factories/factory-70/health']);
});
