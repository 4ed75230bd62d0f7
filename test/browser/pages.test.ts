import type { Page, Route } from 'playwright-core';
import { expect, inject } from 'vitest';
import { violations } from './axe.ts';
import { browserTest, keepScreenshot, openDashboard } from './browser.ts';
import { inEachLook, readOverhang } from './looks.ts';
import { openFullFactory, type Place } from './places.ts';
import { createWebhook, deliver, waitForHealth } from './samples.ts';

/** A window of 1180 × 860 px in which everything is twice as large. */
const zoomed = { width: 590, height: 430 };
const desktop = { width: 1180, height: 860 };
const sizes = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
];

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

// Each page in one of the sizes, and in both if the test may take long.
for (const [turn, size] of sizes.entries()) {
  const title = `while pages load at ${size.width} px, nothing moves; axe finds nothing, and all fits into the window`;
  browserTest(title, async () => {
    const { page, api, places, visit } = await openFullFactory();
    // Signs of what is wrong come late too.
    await createWebhook(api, 'payments', { authMode: 'signature', signatureScheme: 'stripe' });
    await page.addInitScript(observe);
    const settle = await answerOneByOne(page);
    const found: string[] = [];
    const waiting = page.locator('main .waiting:visible').first();
    const load = async ({ name, address = '/overview', open }: Place) => {
      await page.setViewportSize(size);
      // Another address of the same document would not load it again.
      if (!open) await page.goto('about:blank');
      await visit(address);
      await page.locator('main h1:visible').first().waitFor();
      await settle();
      await waiting.waitFor({ state: 'detached' });
      await settle();
      if (open) return;
      const { sum, moved } = await page.evaluate<Shifts>('window.shifts');
      if (sum > 0) found.push(`${name}: ${sum.toFixed(4)}`, ...moved);
    };
    const look = async (name: string) => {
      const pixels = await readOverhang(page);
      if (pixels > 0) found.push(`${name}: ${pixels} px wider than the window`);
      await keepScreenshot(page, name);
    };
    for (const [index, place] of places.entries()) {
      const { name, open } = place;
      if (index % 2 !== turn) {
        if (inject('isLong')) await load(place);
        continue;
      }
      await load(place);
      // A window that becomes narrower may hide the heading of a list.
      if (size.width < desktop.width) await page.setViewportSize(desktop);
      await open?.();
      await settle();
      await waiting.waitFor({ state: 'detached' });
      await inEachLook(page, async each => {
        if (each !== 'phone') {
          found.push(...(await violations(page, each)).map(text => `${name}-${each}: ${text}`));
        }
        await look(`${name}-${each}`);
      });
      await page.setViewportSize(zoomed);
      await look(`${name}-zoomed`);
      // Closes what floats.
      await page.keyboard.press('Escape');
    }
    expect(found).toEqual([]);
  });
}

browserTest('shows all in forced colours, and animates nothing with less motion', async () => {
  const { page, api, visit } = await openDashboard();
  await page.emulateMedia({ forcedColors: 'active' });
  const webhook = await createWebhook(api, 'deploys');
  await deliver(webhook, {});
  await webhook.post({}, 'wrong');
  await waitForHealth(api, { [webhook.uid]: 'healthy' });
  await visit('/overview');
  // A rejection is answered before its row is there, and tallied later.
  for (const bar of ['.col i:not(.r)', '.col i.r']) await page.locator(bar).first().waitFor();
  const ground = await styleOf(page, 'body', 'backgroundColor');
  for (const [element, property] of [
    ['.col i:not(.r)', 'backgroundColor'],
    ['.col i.r', 'backgroundColor'],
    ['.sw', 'backgroundColor'],
    ['.state .g', 'stroke'],
    ['.seg [aria-pressed="true"]', 'borderTopColor'],
  ] as const) {
    expect(await styleOf(page, element, property), element).not.toBe(ground);
  }
  await page.getByRole('button', { name: 'Jump to an ID or name' }).focus();
  await page.keyboard.press('Tab');
  expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');

  await page.emulateMedia({ forcedColors: 'none' });
  await visit('/deliveries');
  const rows = page.locator('main .row');
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByText('live', { exact: true }).waitFor();
  await deliver(webhook, { n: 2 });
  await expect.poll(() => rows.count()).toBe(3);
  const moving = () => page.evaluate<number>('document.getAnimations().length');
  expect(await moving()).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await moving()).toBeGreaterThan(0);
});

/** The colour of the first such element. */
function styleOf(page: Page, element: string, property: string): Promise<string> {
  return page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(element)})).${property}`,
  );
}
