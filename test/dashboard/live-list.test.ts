import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, type SampleWebhook } from './samples.ts';

const perSecond = 50;
const seconds = inject('isLong') ? 60 : 6;
/** Fewer than the rows that an open list adds by itself. */
const addedCount = inject('isLong') ? 250 : 100;
/** In ms of the main thread of the page, whatever else the machine does meanwhile. */
const taskMsMax = 50;
const privateBytesMax = 150 * 1024 * 1024;

/** Delivers at a steady rate, and returns the IDs in their order. */
async function deliverSteadily(webhook: SampleWebhook, count: number, before: string): Promise<string[]> {
  const startMs = performance.now();
  const sent: Promise<string>[] = [];
  for (let n = 0; n < count; n++) {
    await wait(Math.max(0, startMs + (n * 1_000) / perSecond - performance.now()));
    sent.push(deliver(webhook, { [before]: n, text: 'x'.repeat(300) }));
  }
  return Promise.all(sent);
}

/** Sums up from now on how far content moves without the user, as browsers measure it. */
async function watchShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`window.shifted = 0;
    new PerformanceObserver(list => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
    }).observe({ type: 'layout-shift' })`);
  return () => page.evaluate<number>('window.shifted');
}

/** Measures the longest task of a page's main thread until the returned function is called. */
async function watchTasks(page: Page): Promise<() => Promise<number>> {
  const browser = page.context().browser();
  await browser?.startTracing(page, { categories: ['toplevel', '__metadata'] });
  return async () => {
    const trace = (await browser?.stopTracing())?.toString() ?? '{}';
    const { traceEvents } = JSON.parse(trace) as { traceEvents: readonly TraceEvent[] };
    const mains = traceEvents.filter(
      ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain',
    );
    const isMain = ({ pid, tid }: TraceEvent) => mains.some(main => main.pid === pid && main.tid === tid);
    const tasks = traceEvents.filter(event => event.name.endsWith('RunTask') && isMain(event));
    return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
  };
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  /** How long the thread was executed, in µs. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The private memory of the largest page. */
async function readPrivateBytes(page: Page): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {};
  const sizes = processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]);
  return Math.max(...sizes.map(Number)) * 1024;
}

browserTest(
  'while deliveries arrive, an opened row stays where it is, and nothing that was loaded goes away',
  async () => {
    const { page, api, visit, keep } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    const first: string[] = [];
    for (let n = 0; n < 60; n++) first.push(await deliver(webhook, { n }));
    await visit(`/webhooks/${webhook.uid}`);
    const rows = page.locator('.deliveries .row-summary');
    // Not by role: computing the names of all buttons would be the longest task of the page.
    const rowOf = (id = '') => rows.filter({ hasText: id });
    await page.getByRole('button', { name: 'Show older deliveries' }).click();
    await expect.poll(() => rows.count()).toBe(60);
    await page.getByText('live', { exact: true }).waitFor();
    const longestTask = inject('isLong') ? await watchTasks(page) : undefined;

    // The top is in view, and nobody is in the list: it grows on top.
    await page.mouse.move(0, 0);
    await page.evaluate('scrollTo(0, 0)');
    const added = await deliverSteadily(webhook, addedCount, 'added');
    await rowOf(added.at(-1)).waitFor();

    // A row is open: everything stays.
    const opened = rowOf(added.at(-3));
    await opened.click();
    await page.locator('.started').waitFor();
    const before = await rows.locator('.id').allTextContents();
    const place = await opened.boundingBox();
    const shifted = await watchShifts(page);
    const more = await deliverSteadily(webhook, perSecond * seconds - added.length, 'more');
    const newRows = page.locator('.sticky .pill');
    await expect.poll(() => textOf(newRows)).toBe(more.length > 1_000 ? 'Many new' : `${more.length} new`);
    const longestMs = await longestTask?.();
    expect(await opened.boundingBox()).toEqual(place);
    expect(await shifted()).toBe(0);
    expect(await opened.getAttribute('aria-expanded')).toBe('true');
    expect(await rows.locator('.id').allTextContents()).toEqual(before);
    expect(await textOf(page.locator('.deliveries'))).not.toContain('soon');
    await keep('live-list');

    // The button shows the newest above those that were there, and what was left out in between can be read.
    await newRows.click();
    await rowOf(more.at(-1)).waitFor();
    const between = page.getByRole('button', { name: 'Show the deliveries in between' });
    const shown = await rows.locator('.id').allTextContents();
    expect(shown.slice(-before.length)).toEqual(before);
    expect(await opened.getAttribute('aria-expanded')).toBe('true');
    if (longestMs !== undefined) {
      expect(longestMs).toBeLessThan(taskMsMax);
      expect(await readPrivateBytes(page)).toBeLessThan(privateBytesMax);
      return;
    }
    await between.first().waitFor();
    while ((await between.count()) > 0) {
      const count = await rows.count();
      await between.first().click();
      await expect.poll(async () => (await rows.count()) > count || (await between.count()) === 0).toBe(true);
    }
    expect(new Set(await rows.locator('.id').allTextContents())).toEqual(new Set([...more, ...before]));
  },
);
