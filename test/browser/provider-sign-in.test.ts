import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { newHome } from '../support/factory.ts';
import { onFileFinished } from '../support/file-end.ts';
import { startLoopbackServer } from '../support/loopback-server.ts';
import { call, openManagedDaemon } from '../support/management.ts';
import { signInAtProvider, startProvider } from '../support/sign-in-provider.ts';
import { storeIn } from '../support/stored.ts';
import { browserTest, chooseInAccount, openPage } from './browser.ts';

let started: ReturnType<typeof startBoth> | undefined;

/** A provider and a daemon, for all tests of this file. */
function getBoth() {
  started ??= startBoth();
  return started;
}

async function startBoth() {
  const provider = await startProvider({}, onFileFinished);
  const home = newHome();
  await storeIn(home).teamSecrets.set('OIDC', provider.clientSecret);
  const daemon = await openManagedDaemon(provider.settings, home);
  onFileFinished(() => daemon.stop());
  return provider;
}

async function signInAs(page: Page, login: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in with Acme' }).click();
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

browserTest('signs people in at the provider, and says why one may not', async () => {
  const { managementUrl } = await getBoth();
  const page = await openPage();
  await page.goto(`${managementUrl}/#/payments/webhooks`);
  await page.getByRole('button', { name: 'Sign in with Acme' }).waitFor();
  await signInAs(page, 'ada');
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  await page.getByRole('button', { name: 'Account: ada@example.com' }).waitFor();
  expect(page.url()).toBe(`${managementUrl}/#/payments/webhooks`);
  // The address of the answer is not in the history, and only the key of the session is in the page's storage.
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie])';
  expect(await page.evaluate<string>(kept)).toMatch(/^\[\{"hookmill-session-key":"[\w-]{43}"\},\{\},""\]$/);
  await page.reload();
  await chooseInAccount(page, 'Sign out');
  await page.getByRole('button', { name: 'Sign in with Acme' }).waitFor();
  expect(await page.evaluate<string>(kept)).toBe('[{},{},""]');

  // The provider still knows who it was.
  await page.context().clearCookies();
  await page.goto(managementUrl);
  await signInAs(page, 'eve');
  await page.getByRole('alert').getByText('none of the groups of eve@example.com').waitFor();
  expect(page.url()).toBe(`${managementUrl}/`);
  await page.context().clearCookies();
  await signInAs(page, 'bob');
  await page.getByRole('button', { name: 'Account: bob@example.com' }).waitFor();
  await page.goto(`${managementUrl}/#/payments/webhooks`);
  await page.getByText('No webhooks yet').waitFor();
  expect(await page.getByRole('main').getByRole('link').count()).toBe(0);
});

browserTest('a server on another port cannot make somebody sign in as another person', async () => {
  const { managementUrl } = await getBoth();
  const begun = await call(managementUrl, 'beginSignIn', { body: {} });
  const query = await signInAtProvider(begun.json.url, 'ada', managementUrl);
  const [set = ''] = [begun.headers['set-cookie']].flat();
  const other = await startLoopbackServer((_, response) => {
    response.setHeader('Set-Cookie', set).setHeader('Content-Type', 'text/html');
    response.end('<link rel="icon" href="data:,">');
  });
  const page = await openPage();
  await page.goto(other);
  // A browser gives the cookie to every port of the host.
  expect((await page.context().cookies(managementUrl)).map(({ name }) => name)).toContain(set.split('=')[0]);
  await page.goto(`${managementUrl}/sign-in${query}`);
  await page.getByRole('alert').getByText('The sign-in was not accepted').waitFor();
  await page.getByRole('button', { name: 'Sign in with Acme' }).waitFor();
});
