import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Permission } from '../../schema/permission.ts';
import { createApiToken } from '../../store/api-tokens.ts';
import { homeAt } from '../../store/home.ts';
import { type DaemonOptions, startDaemonForTest, type TestDaemon } from '../support/daemon.ts';
import { makeWorkspace } from '../support/workspace.ts';

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);
const screenshots = join(import.meta.dirname, '../../test-results/dashboard');
/** How long anything on the page may take, on a machine that does other things too. */
export const waitMs = 15_000;

if (executablePath === undefined) {
  console.warn(
    'No Chromium: the tests of the dashboard are skipped. They need the package chromium (Debian).',
  );
}

/** A test in a browser; skipped on a machine without one. */
export const browserTest = test.skipIf(executablePath === undefined);

export interface Dashboard {
  readonly daemon: TestDaemon;
  readonly page: Page;
  /** Of the token that is signed in. */
  readonly api: Api;
  /** Keeps how the page looks, for a person. */
  keep(name: string): Promise<void>;
}

export type Api = <T = unknown>(method: string, path: string, body?: unknown) => Promise<T>;

export interface DashboardOptions extends DaemonOptions {
  readonly permission?: Permission;
  readonly browser?: BrowserContextOptions;
  /** Not signed in: on the page that asks for the token. */
  readonly signedOut?: true;
  /** Before the page opens, by somebody who may manage. */
  readonly prepare?: (api: Api, daemon: TestDaemon) => Promise<void>;
}

let browser: Promise<Browser> | undefined;
afterAll(async () => {
  await (await browser)?.close();
});

/** A daemon of the test's own with a page on it. The page may run into no error, and break no rule of its policy. */
export async function openDashboard(options: DashboardOptions = {}): Promise<Dashboard> {
  const { permission = 'manage', prepare, signedOut, browser: look, ...daemonOptions } = options;
  const daemon = await startDaemonForTest({ workspace: makeWorkspace(), ...daemonOptions });
  const manager = apiOf(daemon, await makeToken(daemon, 'manage'));
  await prepare?.(manager, daemon);
  const token = await makeToken(daemon, permission);
  const page = await openPage(look);
  await page.goto(daemon.managementUrl);
  if (!signedOut) await signIn(page, token);
  return { daemon, page, api: apiOf(daemon, token), keep: name => keepScreenshot(page, name) };
}

export async function makeToken(daemon: TestDaemon, permission: Permission): Promise<string> {
  const store = { home: homeAt(daemon.workspace.home), lockTimeoutMs: 5_000 };
  const name = `${permission}-${randomBytes(4).toString('hex')}`;
  return createApiToken(store, { name, factory: null, permission, now: new Date(), randomBytes });
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Puts the page on a place, as an address that somebody sent. */
export async function visit({ page, daemon }: Dashboard, place: string): Promise<void> {
  await page.goto(`${daemon.managementUrl}/#${place}`);
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.textContent()) ?? '';
}

async function openPage(look: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launch();
  const context = await (await browser).newContext({
    viewport: { width: 1180, height: 860 },
    reducedMotion: 'reduce',
    ...look,
  });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(String(error)));
  page.on('console', message => {
    // What the API refuses is told in the page; what the browser says of it is no error of ours.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      errors.push(message.text());
    }
  });
  onTestFinished(async () => {
    await context.close();
    expect(errors).toEqual([]);
  });
  return page;
}

function launch(): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ ...(executablePath !== undefined && { executablePath }), args });
}

export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true });
}

function apiOf({ managementUrl }: TestDaemon, token: string): Api {
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${managementUrl}/api/v1/factories/default${path}`, {
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
