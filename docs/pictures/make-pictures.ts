// `npm run pictures`: takes every page of the dashboard from real factories, in light, in dark and on a phone. The pictures in
// the README are written here, all others to test-results/pictures/.
import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { findChromium, launchChromium } from './chromium.ts';
import { renderPullRequestPage } from './pull-request-page.ts';
import { openScene, type Scene } from './scene.ts';

const root = join(import.meta.dirname, '../..');
const others = join(root, 'test-results/pictures');

const desktop = { width: 1280, height: 860 };
const looks: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: desktop },
  dark: { colorScheme: 'dark', viewport: desktop },
  phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, hasTouch: true },
};
/** The README shows these, in light and dark. */
const inReadme = ['plan', 'overview', 'delivery'];

interface Place {
  readonly name: string;
  /** The address after the #; an empty text to stay where the place before ended. */
  readonly at: string;
  /** What to do there before the picture. */
  readonly act?: (page: Page) => Promise<void>;
}

const storefrontPlaces: readonly Place[] = [
  { name: 'overview-well', at: '/storefront/overview' },
  { name: 'settings-branch-followed', at: '/storefront/settings/branch' },
];

const executablePath = findChromium();
if (executablePath === undefined) {
  console.error('Chromium is not installed; install it first, on Debian with `apt-get install chromium`');
  process.exitCode = 1;
} else {
  await makePictures(executablePath);
}

async function makePictures(executablePath: string): Promise<void> {
  mkdirSync(others, { recursive: true });
  const scene = await openScene();
  try {
    const places = await listPlaces(scene);
    const browser = await launchChromium(executablePath);
    try {
      // The plan comes last: it changes the definitions.
      for (const look of Object.keys(looks)) {
        await takePages(browser, scene, places, look);
        const others = { storefront: storefrontPlaces, [`blog-${look}`]: listFirstPlaces(`blog-${look}`) };
        for (const [factory, ofFactory] of Object.entries(others)) {
          const token = await scene.createToken(factory);
          await takePages(browser, { ...scene, token }, ofFactory, look);
        }
      }
      const plan = renderPullRequestPage(await scene.planPullRequest());
      for (const look of ['light', 'dark']) await takePlan(browser, plan, look);
    } finally {
      await browser.close();
    }
  } finally {
    await scene.close();
  }
}

interface Run {
  readonly id: string;
  readonly automation: string;
  readonly state: string;
}

async function listPlaces({ read, uids, deliveryId }: Scene): Promise<readonly Place[]> {
  const { runs } = await read<{ runs: readonly Run[] }>('/runs?limit=100');
  const run = (automation: string, ...states: string[]) =>
    runs.find(each => each.automation === automation && states.includes(each.state))?.id ?? 'none';
  const tabs = ['set-up', 'filters', 'definition'];
  const sections = ['branch', 'secrets', 'tokens', 'sign-in', 'alerts', 'audit', 'daemon'];
  return [
    { name: 'home', at: '/' },
    { name: 'overview', at: '/default/overview' },
    { name: 'webhooks', at: '/default/webhooks' },
    { name: 'webhook', at: `/default/webhooks/${uids.stripe}` },
    { name: 'webhook-healthy', at: `/default/webhooks/${uids.github}` },
    ...tabs.map(tab => ({ name: `webhook-${tab}`, at: `/default/webhooks/${uids.deploys}?tab=${tab}` })),
    { name: 'new-webhook-file', at: '/default/new-webhook' },
    { name: 'deliveries', at: '/default/deliveries' },
    { name: 'delivery', at: `/default/deliveries/${deliveryId}` },
    { name: 'runs', at: '/default/runs' },
    { name: 'run', at: `/default/runs/${run('triage-error', 'succeeded')}` },
    { name: 'run-running', at: `/default/runs/${run('review-pull-request', 'running', 'queued')}` },
    { name: 'run-failed', at: `/default/runs/${run('investigate-deploy', 'failed')}` },
    { name: 'run-held', at: `/default/runs/${run('investigate-deploy', 'queued')}` },
    { name: 'automations', at: '/default/automations' },
    { name: 'automation', at: '/default/automations/investigate-deploy' },
    ...sections.map(section => ({ name: `settings-${section}`, at: `/default/settings/${section}` })),
    { name: 'jump', at: '/default/overview', act: page => page.keyboard.press('Control+k') },
    { name: 'keys', at: '/default/webhooks', act: showKeys },
  ];
}

/** The field that jumps stays open when the address changes. */
async function showKeys(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
}

/** The first steps in a factory that has nothing yet. */
function listFirstPlaces(factory: string): readonly Place[] {
  return [
    { name: 'overview-empty', at: `/${factory}/overview` },
    { name: 'new-webhook', at: `/${factory}/new-webhook` },
    { name: 'new-webhook-register', at: '', act: createWebhook },
  ];
}

/** Fills in the form of a new webhook that is open. */
async function createWebhook(page: Page): Promise<void> {
  await page.getByRole('searchbox').fill('github');
  await page.getByRole('searchbox').press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('github');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await page.getByRole('button', { name: 'Copy secret' }).waitFor();
}

async function takePages(
  browser: Browser,
  { managementUrl, token }: Scene,
  places: readonly Place[],
  look: string,
): Promise<void> {
  const context = await browser.newContext({
    ...{ reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC' },
    ...looks[look],
  });
  context.setDefaultTimeout(5_000);
  const signedIn = await context.request.post(`${managementUrl}/api/v1/session`, { data: { token } });
  const { sessionKey } = await signedIn.json();
  const page = await context.newPage();
  page.on('pageerror', error => console.log(`${look}: ${error.message}`));
  await page.addInitScript(`localStorage.setItem('hookmill-session-key', '${sessionKey}');
    localStorage.setItem('hookmill-time-zone', 'utc')`);
  for (const { name, at, act } of places) {
    try {
      if (at !== '') await page.goto(`${managementUrl}/#${at}`);
      await settle(page);
      await act?.(page);
      await settle(page);
      await shoot(page, name, look, false);
    } catch (error) {
      console.log(`${name}-${look}: ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    }
  }
  await context.close();
}

/** Waits until what the page shows has come. Live views never end, so the network is no sign. */
async function settle(page: Page): Promise<void> {
  await page.locator('main').first().waitFor();
  await page.locator('.skel, .waiting').first().waitFor({ state: 'detached' });
  await page.waitForTimeout(400);
}

async function takePlan(browser: Browser, plan: string, look: string): Promise<void> {
  const context = await browser.newContext({
    ...looks[look],
    ...{ viewport: { width: 1000, height: 300 }, deviceScaleFactor: 1.125 },
  });
  const page = await context.newPage();
  await page.setContent(plan);
  await shoot(page, 'plan', look, true);
  await context.close();
}

async function shoot(page: Page, name: string, look: string, fullPage: boolean): Promise<void> {
  const folder = inReadme.includes(name) && look !== 'phone' ? import.meta.dirname : others;
  const path = join(folder, `${name}-${look}.png`);
  await page.screenshot({ path, fullPage });
  console.log(`wrote ${relative(root, path)}`);
}
