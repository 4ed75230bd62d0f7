import type { Page, Route } from 'playwright-core';
import { expect, inject } from 'vitest';
import { browserTest } from './browser.ts';
import { openFullFactory } from './places.ts';
import { createWebhook } from './samples.ts';

const wide = { width: 1440, height: 900 };
const phone = { width: 360, height: 740 };

/** What moved without the user, as browsers measure it: how far, and which elements. */
interface Shifts {
  readonly sum: number;
  readonly moved: readonly string[];
}

/** Collects them from the beginning of each document. */
const observe = `
  window.shifts = { sum: 0, moved: [] };
  new PerformanceObserver(list => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      shifts.sum += value;
      for (const { node, previousRect, currentRect } of sources) {
        const from = [previousRect, currentRect].map(({ x, y }) => Math.round(x) + ', ' + Math.round(y)).join(' to ');
        shifts.moved.push('  ' + (node?.className ?? node?.nodeName) + ' ' + node?.textContent.slice(0, 30) + ': ' + from);
      }
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/**
 * Gives each answer of the API a frame of its own, the last one that was asked for first, so that whatever can move does.
 * Returns what waits until nothing more is asked for.
 */
async function answerOneByOne(page: Page): Promise<() => Promise<void>> {
  const asked: Route[] = [];
  let pumping: Promise<void> | undefined;
  const pump = async () => {
    await frames(page);
    for (let route = asked.pop(); route; route = asked.pop()) {
      const current = route;
      const response = await current.fetch().catch(() => undefined);
      await (response ? current.fulfill({ response }) : current.abort()).catch(() => undefined);
      await frames(page);
    }
    pumping = undefined;
  };
  await page.route(/\/api\/v1\/(?!.*\/live-)/, route => {
    asked.push(route);
    pumping ??= pump();
  });
  return async () => {
    do {
      await pumping;
      await frames(page);
    } while (pumping);
  };
}

/** Waits until what has changed is painted. */
async function frames(page: Page): Promise<void> {
  const next =
    'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))';
  await page.evaluate(next).catch(() => undefined);
}

browserTest('nothing moves while a page loads, in whatever order its parts come', async () => {
  const { page, api, places, visit } = await openFullFactory();
  // Signs of what is wrong come late too.
  await createWebhook(api, 'payments', { authMode: 'signature', signatureScheme: 'stripe' });
  await page.addInitScript(observe);
  const settle = await answerOneByOne(page);
  const found: string[] = [];
  const pages = places.flatMap(({ name, address, open }) =>
    address === undefined || open ? [] : [{ name, address }],
  );
  for (const [turn, size] of [wide, phone].entries()) {
    await page.setViewportSize(size);
    for (const [index, { name, address }] of pages.entries()) {
      // One after the other in either size; whole, each in both.
      if (!inject('isLong') && index % 2 !== turn) continue;
      // Another address of the same document would not load it again.
      await page.goto('about:blank');
      await visit(address);
      await page.locator('main h1:visible').first().waitFor();
      await settle();
      await page.locator('.waiting').first().waitFor({ state: 'detached' });
      await settle();
      const { sum, moved } = await page.evaluate<Shifts>('window.shifts');
      if (sum > 0) found.push(`${name} at ${size.width} px: ${sum.toFixed(4)}`, ...moved);
    }
  }
  expect(found).toEqual([]);
});
