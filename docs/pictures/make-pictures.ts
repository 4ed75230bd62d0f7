// `npm run pictures`: takes the pictures in the README from a real factory, in light and dark, and writes them here.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from './chromium.ts';
import { renderPullRequestPage } from './pull-request-page.ts';
import { openScene, type Scene } from './scene.ts';

/** Lower than any of the pages: each picture ends where its page does. */
const viewport = { width: 1_000, height: 300 };
/** Pictures show the deliveries as they look two minutes later. */
const laterMs = 120_000;

const executablePath = findChromium();
if (executablePath === undefined) {
  console.error('Chromium is not installed; install it first, on Debian with `apt-get install chromium`');
  process.exitCode = 1;
} else {
  await makePictures(executablePath);
}

async function makePictures(executablePath: string): Promise<void> {
  const scene = await openScene();
  try {
    const browser = await launchChromium(executablePath);
    try {
      const plan = renderPullRequestPage(await scene.planPullRequest());
      for (const colorScheme of ['light', 'dark'] as const) {
        await takePictures(browser, scene, plan, colorScheme);
      }
    } finally {
      await browser.close();
    }
  } finally {
    await scene.close();
  }
}

async function takePictures(
  browser: Browser,
  scene: Scene,
  plan: string,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const context = await browser.newContext({
    ...{ colorScheme, reducedMotion: 'reduce', locale: 'en-GB', timezoneId: 'UTC' },
    ...{ viewport, deviceScaleFactor: 1.125 },
  });
  const { managementUrl, token, uid, deliveryId } = scene;
  const page = await context.newPage();
  const shoot = async (name: string) => {
    const path = join(import.meta.dirname, `${name}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
    console.log(`wrote docs/pictures/${name}-${colorScheme}.png`);
  };
  await page.setContent(plan);
  await shoot('plan');

  const signedIn = await context.request.post(`${managementUrl}/api/v1/session`, { data: { token } });
  const { sessionKey } = await signedIn.json();
  await page.addInitScript(`localStorage.setItem('hookmill-session-key', '${sessionKey}')`);
  await page.clock.setFixedTime(Date.now() + laterMs);
  const live = page.waitForResponse(/\/live-deliveries/);
  await page.goto(`${managementUrl}/#/default/webhooks/${uid}`);
  await Promise.all([live, page.locator('.row-summary', { hasText: deliveryId }).waitFor()]);
  await shoot('webhook');
  await page.goto(`${managementUrl}/#/default/deliveries/${deliveryId}`);
  await page.locator('.started details').first().waitFor();
  await page.locator('.started details').evaluateAll(all => {
    for (const details of all) details.setAttribute('open', '');
  });
  await shoot('delivery');
  await context.close();
}
