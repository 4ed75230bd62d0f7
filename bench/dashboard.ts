// Measures the dashboard in Chromium, over a full log and while deliveries arrive: the bytes of the first page, its first paint,
// its longest task and its layout shifts, and the time from a click on a row to the next paint.
// Usage: npm run bench:dashboard [-- --rows 10000000 --runs 1000000 --rate 50 --loads 5 --clicks 20]
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../docs/pictures/chromium.ts';
import { inTemporaryDirectory, openFactory } from './support/factory.ts';
import { fillLog } from './support/fill-log.ts';
import { sendAtRate, type Target } from './support/load.ts';
import { parseOptions } from './support/options.ts';
import { median, round } from './support/statistics.ts';

const options = parseOptions({
  ...{ rows: 10_000_000, runs: 1_000_000 },
  ...{ rate: 50, loads: 5, clicks: 20 },
});
const viewport = { width: 1440, height: 900 };

/** What the browser's observers saw since the page began, in milliseconds. */
interface Observed {
  readonly paint: number;
  readonly longestTask: number;
  readonly shift: number;
  /** From the click to the next paint. The browser leaves out what took less than 16 ms. */
  readonly clicks: readonly number[];
}

/** Collects them from the beginning of each document. */
const observe = `
  window.observed = { paint: 0, longestTask: 0, shift: 0, clicks: [] };
  const watch = (type, note, more) =>
    new PerformanceObserver(list => list.getEntries().forEach(note)).observe({ type, buffered: true, ...more });
  watch('paint', entry => { if (entry.name === 'first-contentful-paint') observed.paint = entry.startTime; });
  watch('longtask', entry => { observed.longestTask = Math.max(observed.longestTask, entry.duration); });
  watch('layout-shift', entry => { if (!entry.hadRecentInput) observed.shift += entry.value; });
  watch('event', entry => { if (entry.name === 'click') observed.clicks.push(entry.duration); }, { durationThreshold: 16 });`;

const executablePath = findChromium();
if (executablePath === undefined) throw new Error('Chromium is not installed');

await inTemporaryDirectory(async directory => {
  const factory = openFactory(directory);
  const token = await factory.createToken();
  const webhook = await factory.applyLoad();
  const payload = Buffer.from(JSON.stringify({ type: 'build', text: 'x'.repeat(1_000) }));
  await fillLog(factory.log, webhook.uid, { ...options, newest: { count: 10_000, payload } });
  const { targetOf, managementUrl } = await factory.serve();
  const target = targetOf(webhook);
  const browser = await launchChromium(executablePath);
  try {
    const pages = {
      Overview: { place: '/default/overview', row: 'main a[href*="/webhooks/"]' },
      Deliveries: { place: '/default/deliveries', row: 'main a.row, main .row-summary' },
      Runs: { place: '/default/runs', row: 'main a[href*="/runs/run_"]' },
      Webhook: {
        place: `/default/webhooks/${webhook.uid}`,
        row: 'main a[href*="/deliveries/dlv_"], main .row-summary',
      },
    };
    const rows = [];
    for (const [name, { place, row }] of Object.entries(pages)) {
      const session = { browser, managementUrl, token };
      const quiet = await measureLoads(session, place);
      rows.push({ page: name, ...quiet, ...(await measureClicks(session, place, row, target)) });
    }
    console.table(rows);
    console.log(`${options.rows} deliveries, ${options.runs} runs, ${options.rate} deliveries a second`);
  } finally {
    await browser.close();
  }
});

interface Session {
  readonly browser: Browser;
  readonly managementUrl: string;
  readonly token: string;
}

/** Opens a page as somebody who is signed in and has an empty cache. Counts the bytes that it loads. */
async function openPage({ browser, managementUrl, token }: Session, place: string) {
  const context = await browser.newContext({ viewport });
  const answer = await context.request.post(`${managementUrl}/api/v1/session`, { data: { token } });
  const { sessionKey } = await answer.json();
  await context.addInitScript(`localStorage.setItem('hookmill-session-key', '${sessionKey}');`);
  await context.addInitScript(observe);
  const page = await context.newPage();
  const sizes = await countBytes(page);
  await page.goto(`${managementUrl}/#${place}`);
  await settle(page);
  return { page, sizes, close: () => context.close() };
}

/** Loads a page so many times without a cache, while nothing arrives. */
async function measureLoads(session: Session, place: string) {
  const seen: (Observed & { files: number; answers: number })[] = [];
  for (let load = 0; load < options.loads; load++) {
    const { page, sizes, close } = await openPage(session, place);
    seen.push({ ...(await readObserved(page)), ...sizes });
    await close();
  }
  const middle = (read: (each: (typeof seen)[number]) => number) => round(median(seen.map(read)), 0);
  return {
    'files KB': round(Math.max(...seen.map(({ files }) => files)) / 1_000),
    'answers KB': round(Math.max(...seen.map(({ answers }) => answers)) / 1_000),
    'first paint ms': middle(({ paint }) => paint),
    'longest task ms': middle(({ longestTask }) => longestTask),
    'layout shift': round(Math.max(...seen.map(({ shift }) => shift)), 4),
  };
}

/** Counts the bytes that come over the network, as they are compressed: of the dashboard's files, and of the API. */
async function countBytes(page: Page): Promise<{ files: number; answers: number }> {
  const sizes = { files: 0, answers: 0 };
  const isAnswer = new Map<string, boolean>();
  const protocol = await page.context().newCDPSession(page);
  await protocol.send('Network.enable');
  protocol.on('Network.requestWillBeSent', ({ requestId, request }) => {
    isAnswer.set(requestId, request.url.includes('/api/'));
  });
  protocol.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    sizes[isAnswer.get(requestId) ? 'answers' : 'files'] += encodedDataLength;
  });
  return sizes;
}

/** Clicks on rows of a page while deliveries arrive. */
async function measureClicks(session: Session, place: string, row: string, target: Target) {
  const { page, close } = await openPage(session, place);
  const loading = sendAtRate(target, options.rate, 16, delay((6 + options.clicks) * 1_000));
  await settle(page);
  const atRest = await readObserved(page);
  // A list whose row has the focus stays where it is.
  await page.keyboard.press('j');
  await settle(page);
  const asRead = await readObserved(page);
  for (let click = 0; click < options.clicks; click++) {
    const which = place.endsWith('overview') ? 0 : click % 3;
    await page.locator(row).nth(which).click({ force: true });
    await page.waitForTimeout(500);
    if (!page.url().endsWith(place)) await page.goBack();
    await page.locator(row).first().waitFor();
  }
  const { clicks, longestTask } = await readObserved(page);
  await loading;
  await close();
  // A click that took less than 16 ms has no entry.
  const times = [...clicks, ...Array<number>(Math.max(0, options.clicks - clicks.length)).fill(15)];
  return {
    'click median ms': round(median(times), 0),
    'click worst ms': round(Math.max(...times), 0),
    'longest task meanwhile ms': round(longestTask, 0),
    'shift at rest': round(atRest.shift, 4),
    'shift while read': round(asRead.shift - atRest.shift, 4),
  };
}

/** Waits until the page has what it shows, and two seconds longer for what moves late. */
async function settle(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  await page.locator('.skel, .waiting').first().waitFor({ state: 'detached' });
  await page.waitForTimeout(2_000);
}

function readObserved(page: Page): Promise<Observed> {
  return page.evaluate<Observed>('observed');
}
