import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, type SampleWebhook } from './samples.ts';

const perSecond = 50;
const seconds = inject('isLong') ? 60 : 4;
/** Fewer than the rows that an open list adds by itself. */
const addedCount = inject('isLong') ? 250 : 60;
/** In ms of the main thread of the page, whatever else the machine does meanwhile. */
const taskMsMax = 50;
const privateBytesMax = 150 * 1024 * 1024;
/** Rows in the document at a time, whatever is loaded. */
const shownMax = 200;
const viewport = { width: 1440, height: 900 };

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

interface ReadRows {
  readonly ids: readonly string[];
  /** The most rows that were in the document at a time. */
  readonly most: number;
  /** How far the list is scrolled where rows in between were not read; null if there is no such place. */
  readonly gapAt: number | null;
}

/** The rows of a list from top to bottom, of which only some are in the document at a time. */
async function readRows(page: Page): Promise<ReadRows> {
  return page.evaluate(`(async () => {
    const pane = document.querySelector('.pane');
    const before = pane.scrollTop;
    const ids = new Set();
    let [most, gapAt] = [0, null];
    for (pane.scrollTop = 0; ; pane.scrollTop += pane.clientHeight * 0.8) {
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      const rows = document.querySelectorAll('[data-kind=row]');
      most = Math.max(most, rows.length);
      for (const row of rows) ids.add(row.dataset.key);
      const gap = document.querySelector('.gap')?.getBoundingClientRect();
      if (gap && gap.bottom > 0 && gap.top < innerHeight) gapAt ??= pane.scrollTop;
      if (pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 1) break;
    }
    pane.scrollTop = before;
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    return { ids: [...ids], most, gapAt };
  })()`);
}

browserTest('rows stay where they are while newer and older ones come', async () => {
  const { page, api, visit } = await openDashboard({ browser: { viewport } });
  const webhook = await createWebhook(api, 'deploys');
  const first: string[] = [];
  for (let n = 0; n < 60; n++) first.push(await deliver(webhook, { n }));
  await visit('/deliveries');
  // Not by role: computing the names of all links would be the longest task of the page.
  const rowOf = (id = '') => page.locator(`[data-key="${id}"] > a`);
  await page.getByRole('button', { name: 'Show older deliveries' }).click();
  await rowOf(first[0]).waitFor({ state: 'attached' });
  await page.getByText('live', { exact: true }).waitFor();
  const longestTask = inject('isLong') ? await watchTasks(page) : undefined;

  // The top is in view, and nobody is in the list: it grows on top.
  await page.mouse.move(0, 0);
  await page.evaluate(`document.querySelector('.pane').scrollTop = 0`);
  const moved = await watchShifts(page);
  const added = await deliverSteadily(webhook, addedCount, 'added');
  await rowOf(added.at(-1)).waitFor();
  expect(await moved()).toBe(0);

  // A row is open: everything stays.
  const opened = rowOf(added.at(-3));
  await opened.click();
  await page.getByRole('heading', { name: 'Started no run' }).waitFor();
  await page.mouse.move(0, 0);
  const before = await readRows(page);
  expect(before.ids).toEqual([...first, ...added].toReversed());
  expect(before.most).toBeLessThan(shownMax);
  const place = await opened.boundingBox();
  const shifted = await watchShifts(page);
  const more = await deliverSteadily(webhook, perSecond * seconds - added.length, 'more');
  const newRows = page.locator('.bar').getByRole('button', { name: /new$/ });
  await expect
    .poll(() => textOf(newRows))
    .toBe(more.length > 1_000 ? 'Many new' : `${more.length.toLocaleString('en')} new`);
  const longestMs = await longestTask?.();
  expect(await opened.boundingBox()).toEqual(place);
  expect(await shifted()).toBe(0);
  expect(await opened.getAttribute('aria-current')).toBe('true');
  expect(await readRows(page)).toEqual(before);

  // The button shows the newest above those that were there, and what was left out in between can be read.
  await newRows.click();
  await rowOf(more.at(-1)).waitFor();
  const shown = await readRows(page);
  expect(shown.ids.slice(-before.ids.length)).toEqual(before.ids);
  if (longestMs !== undefined) {
    expect(longestMs).toBeLessThan(taskMsMax);
    expect(await readPrivateBytes(page)).toBeLessThan(privateBytesMax);
    return;
  }
  const between = page.getByRole('button', { name: 'Show the deliveries in between' });
  expect(shown.gapAt).not.toBe(null);
  for (let known = shown; known.gapAt !== null; known = await readRows(page)) {
    await page.evaluate(`document.querySelector('.pane').scrollTop = ${known.gapAt}`);
    await between.click();
    // These rows may come while they are read: only the next look tells where the gap is then.
    await expect
      .poll(async () => {
        const { ids, most, gapAt } = await readRows(page);
        expect(most).toBeLessThan(shownMax);
        return ids.length > known.ids.length || gapAt === null;
      })
      .toBe(true);
  }
  const all = await readRows(page);
  expect(all.ids).toEqual([...first, ...added, ...more].toReversed());

  // Older rows come below those that are read, which come back on the way up.
  const newest = [...first, ...added, ...more].slice(-200);
  await visit('/deliveries');
  await page.reload();
  await page.locator('[data-kind=row]').first().waitFor();
  const older = page.getByRole('button', { name: 'Show older deliveries' });
  for (let count = 40; count < 200; count += 40) {
    await older.scrollIntoViewIfNeeded();
    const id = newest.at(-count);
    const last = page.locator(`[data-key="${id}"]`);
    const place = await last.boundingBox();
    await older.click();
    await expect.poll(() => page.locator(`[data-key="${id}"] + li[data-kind=row]`).count()).toBe(1);
    expect(await last.boundingBox()).toEqual(place);
  }
  const { ids, most } = await readRows(page);
  expect(ids).toEqual(newest.toReversed());
  expect(most).toBeLessThan(shownMax);
  // Keys go to rows that are not in the document.
  await page.evaluate(`document.querySelector('.pane').scrollTop = 0`);
  await page.locator(`[data-key="${newest.at(-1)}"] a`).focus();
  for (let row = 0; row < 80; row++) await page.keyboard.press('j');
  await expect
    .poll(() => page.evaluate('document.activeElement.closest("li")?.dataset.key'))
    .toBe(newest.at(-81));
  await page.keyboard.press('Enter');
  await expect.poll(() => page.url()).toContain(newest.at(-81));
});
