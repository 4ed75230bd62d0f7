import { expect } from 'vitest';
import { startLoopbackServer } from '../support/loopback-server.ts';
import {
  browserTest,
  chooseInAccount,
  enter,
  makeToken,
  openDashboard,
  openPage,
  signIn,
  waitForSignIn,
} from './browser.ts';
import { createWebhook } from './samples.ts';

browserTest('signs in with a token, refuses an unknown one, and signs out', async () => {
  const { page, daemon, factory, visit, keep } = await openDashboard({ isSignedOut: true });
  await visit();
  await page.getByLabel('API token').fill('hm_unknown');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('The API token is unknown').waitFor();
  await keep('sign-in');
  const token = await makeToken(daemon, 'manage', factory);
  await signIn(page, token);
  // The token is gone from the page, and no script can read the session cookie.
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])';
  expect(await page.evaluate<string>(kept)).toMatch(
    /^\[\{"hookmill-session-key":"[\w-]{43}"\},\{\},"",null\]$/,
  );
  expect(await page.content()).not.toContain(token);
  await page.reload();
  await chooseInAccount(page, 'Sign out');
  await page.getByLabel('API token').waitFor();
  expect(await page.evaluate<string>(kept)).toBe('[{},{},"",null]');
  await page.reload();
  await page.getByLabel('API token').waitFor();
});

browserTest('a server on another port gets the cookie from the browser, and cannot use it', async () => {
  const { page, daemon, factory, visit } = await openDashboard({ isSignedOut: true });
  await visit();
  await signIn(page, await makeToken(daemon, 'manage', factory));
  let cookie = '';
  const other = await startLoopbackServer(({ headers }, response) => {
    cookie ||= headers.cookie ?? '';
    response.setHeader('Content-Type', 'text/html').end('<link rel="icon" href="data:,">');
  });
  await page.goto(other);
  expect(cookie).toMatch(/^hookmill_session_\d+=/);
  expect(await page.evaluate<string>('JSON.stringify(localStorage)')).toBe('{}');
  const replayed = await fetch(`${daemon.managementUrl}/api/v1/session`, { headers: { cookie } });
  expect(replayed.status).toBe(401);
  await page.goto(daemon.managementUrl);
  await waitForSignIn(page);
});

browserTest('asks to sign in again when the session has expired, and stays on the page', async () => {
  const { page, daemon, factory, visit } = await openDashboard();
  await visit();
  await page.getByText('No automations yet').waitFor();
  await page.context().clearCookies();
  await visit('/status');
  await page.getByText('Your session has expired').waitFor();
  await signIn(page, await makeToken(daemon, 'manage', factory));
  await page.getByRole('heading', { level: 1, name: 'Status' }).waitFor();
});

browserTest('lists the sessions, and ends one of another browser', async () => {
  const { page, daemon, factory, visit, keep } = await openDashboard({ isSignedOut: true });
  const token = await makeToken(daemon, 'manage', factory);
  const other = await openPage();
  await enter(other, daemon, token);
  await other.goto(daemon.managementUrl);
  await waitForSignIn(other);
  await enter(page, daemon, token);
  await visit();
  await chooseInAccount(page, 'Sessions');
  await page.getByText('this session').waitFor();
  await keep('sessions');
  await page.getByRole('button', { name: 'End the session of' }).click();
  await page.getByText('this session').waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  await other.reload();
  await other.getByLabel('API token').waitFor();
  await waitForSignIn(page);
});

browserTest('says with what it reads by itself when nobody has used the page for a minute', async () => {
  const { page, visit } = await openDashboard();
  await page.clock.install();
  const headers: (string | undefined)[] = [];
  page.on('request', request => {
    if (request.url().endsWith('/status')) headers.push(request.headers()['x-hookmill-unattended']);
  });
  await visit('/automations');
  await page.getByText('No automations yet').waitFor();
  await page.keyboard.press('Tab');
  const countBefore = headers.length;
  await page.clock.runFor(59_000);
  await expect.poll(() => headers.length).toBeGreaterThan(countBefore);
  expect(headers).not.toContain('1');
  await page.clock.runFor(61_000);
  await expect.poll(() => headers.at(-1)).toBe('1');
  await page.keyboard.press('Tab');
  const countUnattended = headers.length;
  await page.clock.runFor(31_000);
  await expect.poll(() => headers.length).toBeGreaterThan(countUnattended);
  expect(headers.at(-1)).toBeUndefined();
});

browserTest('switches between factories', async () => {
  const { page, api, daemon, factory, visit } = await openDashboard({ isSignedOut: true });
  await createWebhook(api, 'here');
  const other = await daemon.webhook();
  await enter(page, daemon, await makeToken(daemon, 'read', null));
  await visit();
  await page.getByRole('heading', { name: 'Factories' }).waitFor();
  await page.getByRole('button', { name: `${factory} 1 never seen` }).click();
  await page.getByRole('link', { name: `Automations and webhooks of ${factory}` }).click();
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'here' }).waitFor();
  await page.getByLabel('Factory', { exact: true }).first().selectOption(other.factory);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'hook', exact: true }).waitFor();
});

browserTest('says that the daemon does not answer, and tries again', async () => {
  const { page, visit } = await openDashboard();
  await visit('/automations');
  await page.getByText('No automations yet').waitFor();
  await page.route('**/api/v1/**', route => route.abort());
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('alert').getByText('The daemon does not answer').waitFor();
  await page.unroute('**/api/v1/**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No webhooks yet').waitFor();
});
