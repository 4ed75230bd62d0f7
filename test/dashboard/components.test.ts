import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startLoopbackServer } from '../support/loopback-server.ts';
import { violations } from './axe.ts';
import { browserTest, keepScreenshot, openPage } from './browser.ts';
import { inEachLook, readOverhang } from './looks.ts';

const dashboard = join(import.meta.dirname, '../../dashboard');
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

/** Builds the page as `npm run dashboard:components` serves it, and returns its address. */
async function buildComponents(): Promise<string> {
  const outDir = mkdtempSync(join(tmpdir(), 'hookmill-components-'));
  onTestFinished(() => rmSync(outDir, { recursive: true }));
  const { build } = await import('vite');
  await build({
    configFile: join(dashboard, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir, rolldownOptions: { input: join(dashboard, 'components.html') } },
  });
  const origin = await startLoopbackServer(({ url = '' }, response) => {
    response.setHeader('Content-Type', types[extname(url)] ?? '').end(readFileSync(join(outDir, url)));
  });
  return `${origin}/components.html`;
}

browserTest(
  'each component is accessible in each of its states, in light and dark, and fits on a phone',
  async () => {
    const page = await openPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(await buildComponents());
    await page.getByRole('heading', { level: 1 }).waitFor();
    await inEachLook(page, async look => {
      if (look !== 'phone') expect(await violations(page, look), look).toEqual([]);
      expect(await readOverhang(page), look).toBeLessThanOrEqual(0);
      await keepScreenshot(page, `components-${look}`);
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
