import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { findChromium, launchChromium } from '../../docs/pictures/chromium.ts';
import { createToken } from '../../operations/access/tokens.ts';
import type { Permission } from '../../schema/grant.ts';
import { homeAt } from '../../store/home/home.ts';
import { onFileFinished } from '../support/file-end.ts';
import { storeIn } from '../support/stored.ts';
import { stepLimitMs } from '../support/test-limit.ts';
import { openWebhookDaemon, type WebhookDaemon } from '../support/webhook-daemon.ts';

const executablePath = findChromium();
const screenshots = join(import.meta.dirname, '../../test-results/dashboard');

if (executablePath === undefined) {
  console.warn(
    'No Chromium: the tests of the dashboard are skipped. They need the package chromium-headless-shell or chromium (Debian).',
  );
}

/** A test in a browser; skipped on a machine without one. */
export const browserTest = test.skipIf(executablePath === undefined);

export interface Dashboard {
  readonly daemon: WebhookDaemon;
  /** The factory of this test only. */
  readonly factory: string;
  readonly page: Page;
  /** Calls the API with the manage permission. */
  readonly api: Api;
  /** Opens an address in the factory; without one, the home page. */
  visit(place?: string): Promise<void>;
}

export type Api = <T = unknown>(method: string, path: string, body?: unknown) => Promise<T>;

export interface DashboardOptions {
  readonly browser?: BrowserContextOptions;
  readonly isReader?: true;
  readonly isSignedOut?: true;
}

/** One for all test files of this process, which it ends with. Each page has a context of its own. */
let browser: Promise<Browser> | undefined;
let daemon: Promise<WebhookDaemon> | undefined;
let factories = 0;

let ofFile: object = {};

/** Adds settings to the daemon of this test file, before its first test. */
export function addSettings(more: object): void {
  ofFile = more;
}

/** Starts the daemon of a test file. */
async function startForFile(): Promise<WebhookDaemon> {
  const started = await openWebhookDaemon({ settings: { ...settings, ...ofFile } });
  onFileFinished(async () => {
    daemon = undefined;
    ofFile = {};
    await started.stop();
  });
  return started;
}

/** Runs print their payload, and fail if it contains `fail`. No rate limit gets in the way. */
const settings = {
  limits: { deliveriesPerMinute: 100_000 },
  runs: {
    attempts: 1,
    runner: {
      kind: 'command',
      argv: [
        'sh',
        '-c',
        'echo "read the log"; cat event-payload.json; ! grep -q fail event-payload.json || { echo "no luck" >&2; exit 3; }',
      ],
    },
  },
};

/**
 * Makes a factory, and an empty page in a browser that is signed in to it. The tests of a file share one daemon. The test
 * fails if the page logs an error, as it does for a violation of its Content-Security-Policy.
 */
export async function openDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  daemon ??= startForFile();
  const running = await daemon;
  const factory = `test-${++factories}`;
  const manager = await makeToken(running, 'manage', factory);
  const reader = options.isReader ? await makeToken(running, 'read', factory) : undefined;
  const page = await openPage(options.browser);
  if (!options.isSignedOut) await enter(page, running, reader ?? manager);
  return {
    daemon: running,
    factory,
    page,
    api: apiOf(running, factory, manager),
    visit: async place => {
      await page.goto(`${running.managementUrl}/${place === undefined ? '' : `#/${factory}${place}`}`);
    },
  };
}

/** Makes a token for a factory, or for all of them (null). */
export async function makeToken(
  { workspace }: WebhookDaemon,
  permission: Permission,
  factory: string | null,
): Promise<string> {
  const store = storeIn(homeAt(workspace.home));
  const name = `${permission}-${randomBytes(4).toString('hex')}`;
  return createToken({ store, randomBytes }, { name, factory, permission });
}

/** Signs in without the sign-in page, before the first page of the daemon opens. */
export async function enter(page: Page, { managementUrl }: WebhookDaemon, token: string): Promise<void> {
  const answer = await page.request.post(`${managementUrl}/api/v1/session`, { data: { token } });
  const { sessionKey } = (await answer.json()) as { readonly sessionKey: string };
  await page.addInitScript(`if (location.origin === '${managementUrl}')
    localStorage.setItem('hookmill-session-key', '${sessionKey}')`);
}

/** Fills in the form of the sign-in page. */
export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await waitForSignIn(page);
}

/** Waits until somebody is signed in. */
export async function waitForSignIn(page: Page): Promise<void> {
  await accountOf(page).waitFor();
}

/** Chooses an entry of the account menu, such as Sign out. */
export async function chooseInAccount(page: Page, entry: string): Promise<void> {
  await accountOf(page).click();
  await page.getByRole('menuitem', { name: entry }).click();
}

const accountOf = (page: Page) => page.getByRole('button', { name: 'Account: ' });

/** Opens the form for a new webhook of a sender, by its label, and names the webhook. */
export async function openNewWebhook(
  { page, visit }: Dashboard,
  name: string,
  sender = 'Bearer token',
): Promise<void> {
  await visit('/webhooks');
  await page.getByRole('link', { name: 'New webhook' }).click();
  await page.locator('label.provider', { hasText: sender }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
}

/** Chooses an entry of the menu of a webhook. */
export async function chooseFromMenu(page: Page, entry: string): Promise<void> {
  await page.getByRole('button', { name: /^More: / }).click();
  await page.getByRole('menuitem', { name: entry }).click();
}

/** Lets the page use the clipboard. Returns what reads it. */
export async function clipboardOf(page: Page): Promise<() => Promise<string>> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  return () => page.evaluate<string>('navigator.clipboard.readText()');
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? '';
}

export async function openPage(look: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launchChromium(executablePath ?? '');
  const context = await (await browser).newContext({
    viewport: { width: 1180, height: 860 },
    reducedMotion: 'reduce',
    ...look,
  });
  context.setDefaultTimeout(stepLimitMs);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('console', message => {
    // The browser logs every refusal of the API, which the page shows itself.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      errors.push(message.text());
    }
  });
  onTestFinished(async ({ task }) => {
    // A page that has crashed has no picture.
    if (task.result?.state === 'fail') await takeScreenshot(page, `failed-${task.id}`).catch(() => undefined);
    await context.close();
    expect(errors).toEqual([]);
  });
  return page;
}

/** Only if it is asked for: screenshots of whole pages take much of the time of these tests. A failed test leaves one. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  if (process.env.TEST_SCREENSHOTS) await takeScreenshot(page, name);
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}

function apiOf({ managementUrl }: WebhookDaemon, factory: string, token: string): Api {
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${managementUrl}/api/v1/factories/${factory}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}
