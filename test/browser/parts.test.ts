import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Rolldown } from 'vite';
import { expect } from 'vitest';
import { startLoopbackServer } from '../support/loopback-server.ts';
import { violations } from './axe.ts';
import { browserTest, keepScreenshot, openPage } from './browser.ts';
import { inEachLook, readOverhang } from './looks.ts';

const dashboard = join(import.meta.dirname, '../../dashboard');
const input = [join(dashboard, 'styles/main.css'), join(import.meta.dirname, 'parts.tsx')];
const html = '<!doctype html><html lang="en"><title>Parts</title><body><div id="app"></div></body></html>';

/** Opens the parts of parts.tsx, bundled with their styles as the dashboard is. */
async function openParts(): Promise<Page> {
  const { build } = await import('vite');
  const { output } = (await build({
    configFile: join(dashboard, 'vite.config.ts'),
    logLevel: 'error',
    build: { write: false, rolldownOptions: { input } },
  })) as Rolldown.RolldownOutput;
  const page = await openPage({ viewport: { width: 1280, height: 900 } });
  const origin = await startLoopbackServer((_, response) => {
    response.setHeader('Content-Type', 'text/html').end(html);
  });
  await page.goto(origin);
  for (const file of output.filter(({ fileName }) => /\.(css|js)$/.test(fileName))) {
    if (file.type === 'chunk') await page.addScriptTag({ content: file.code, type: 'module' });
    else
      await page.addStyleTag({ content: `${file.source}`.replaceAll(':hover', ':is(:hover, .is-hovered)') });
  }
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

browserTest(
  'each part is accessible in each of its states, in light and dark, and fits on a phone',
  async () => {
    const page = await openParts();
    await inEachLook(page, async look => {
      if (look !== 'phone') expect(await violations(page, look), look).toEqual([]);
      expect(await readOverhang(page), look).toBeLessThanOrEqual(0);
      await keepScreenshot(page, `parts-${look}`);
    });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Disable…' }).click();
    await page.getByRole('dialog', { name: 'Disable stripe?' }).waitFor();
    expect(await violations(page)).toEqual([]);
  },
);
