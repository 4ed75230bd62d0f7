import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { violations } from './axe.ts';
import { browserTest, openDashboard } from './browser.ts';
import { inEachLook, readOverhang } from './looks.ts';
import { openFullFactory } from './places.ts';
import { createWebhook, deliver, waitForHealth } from './samples.ts';

/** A window of 1180 × 860 px in which everything is twice as large. */
const zoomed = { width: 590, height: 430 };

browserTest(
  'axe finds nothing on any page in light and dark colours, and no page is wider than a phone or a zoomed window',
  async () => {
    const { page, keep, openEach } = await openFullFactory();
    const found: string[] = [];
    const look = async (name: string) => {
      found.push(...(await listOverhang(page, name)));
      await keep(name);
    };
    await openEach(async name => {
      await inEachLook(page, async each => {
        if (each !== 'phone') {
          found.push(...(await violations(page, each)).map(text => `${name}-${each}: ${text}`));
        }
        await look(`${name}-${each}`);
      });
      const before = page.viewportSize() ?? zoomed;
      await page.setViewportSize(zoomed);
      await look(`${name}-zoomed`);
      await page.setViewportSize(before);
    });
    expect(found).toEqual([]);
  },
);

async function listOverhang(page: Page, name: string): Promise<string[]> {
  const pixels = await readOverhang(page);
  return pixels > 0 ? [`${name}: ${pixels} px wider than the window`] : [];
}

browserTest('animates nothing if the user prefers reduced motion', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await deliver(webhook, { n: 1 });
  await visit('/deliveries');
  const rows = page.locator('main .row');
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByText('live', { exact: true }).waitFor();
  await deliver(webhook, { n: 2 });
  await expect.poll(() => rows.count()).toBe(2);
  const moving = () => page.evaluate<number>('document.getAnimations().length');
  expect(await moving()).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await moving()).toBeGreaterThan(0);
});

browserTest('shows bars, states and the focus in forced colours too', async () => {
  const { page, api, visit, keep } = await openDashboard();
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
  await keep('forced-colours');
});

/** The colour of the first such element. */
function styleOf(page: Page, element: string, property: string): Promise<string> {
  return page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(element)})).${property}`,
  );
}
