import { expect } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startLoopbackServer } from '../support/loopback-server.ts';
import {
  browserTest,
  chooseInAccount,
  enter,
  makeToken,
  openDashboard,
  openNewWebhook,
  openPage,
  signIn,
  textOf,
  waitForSignIn,
} from './browser.ts';
import { createWebhook } from './samples.ts';

browserTest('signs in with a token, refuses an unknown one, and signs out', async () => {
  const dashboard = await openDashboard({ isSignedOut: true });
  const { page, daemon, api, factory, visit } = dashboard;
  await visit();
  await page.getByLabel('API token').fill('hm_unknown');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('alert').getByText('The API token is unknown').waitFor();
  const token = await makeToken(daemon, 'manage', factory);
  await signIn(page, token);
  // The token is gone from the page, and no script can read the session cookie.
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])';
  expect(await page.evaluate<string>(kept)).toMatch(
    /^\[\{"hookmill-session-key":"[\w-]{43}"\},\{\},"",null\]$/,
  );
  expect(await page.content()).not.toContain(token);
  await page.reload();
  await waitForSignIn(page);

  // An expired session asks over the page, which then goes on.
  await createWebhook(api, 'deploys');
  await openNewWebhook(dashboard, 'half-typed');
  const name = page.getByLabel('Name', { exact: true });
  await page.context().clearCookies();
  await page.keyboard.press('Control+k');
  const expired = page.getByRole('dialog', { name: 'Your session has expired' });
  await expired.waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expired.waitFor();
  await signIn(page, token);
  await expired.waitFor({ state: 'detached' });
  // What could not be read meanwhile is read now, and what somebody typed is still there.
  await page.getByRole('combobox').fill('deploys');
  await page.getByRole('option', { name: 'deploys', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  expect(await name.inputValue()).toBe('half-typed');

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

browserTest('ends all other sessions of the same person, or one of another', async () => {
  const { page, daemon, factory, visit } = await openDashboard({ isSignedOut: true });
  const token = await makeToken(daemon, 'manage', factory);
  const [own, other] = [await openPage(), await openPage()];
  await enter(other, daemon, await makeToken(daemon, 'read', factory));
  for (const each of [own, page, page]) await enter(each, daemon, token);
  await visit('/settings/sign-in');
  await page.getByText('none; people sign in with API tokens').waitFor();
  expect(await textOf(page.locator('.side > div'))).toMatch(/Permissionmanage test-\d+/);
  await page.getByRole('button', { name: 'Sign out my others…' }).click();
  await page.getByRole('button', { name: 'End 2 sessions' }).click();
  await page.getByText('Ended 2 sessions').waitFor();
  await own.goto(daemon.managementUrl);
  await own.getByLabel('API token').waitFor();

  await other.goto(daemon.managementUrl);
  await waitForSignIn(other);
  await chooseInAccount(page, 'Sessions');
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  await page.getByText('this session').waitFor();
  await page.getByRole('button', { name: 'End the session of read-' }).click();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  await page.getByText('this session').waitFor();
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

browserTest('switches between factories, and says what the ID in an address is', async () => {
  const { page, api, daemon, factory, visit } = await openDashboard({ isSignedOut: true });
  const { uid } = await createWebhook(api, 'here');
  const other = await daemon.webhook();
  await enter(page, daemon, await makeToken(daemon, 'read', null));
  await visit();
  const choose = async (current: string, next: string) => {
    await page.getByRole('button', { name: `Factory: ${current}` }).click();
    await page.getByRole('option', { name: next, exact: true }).click();
    // Until then, the links lead to where they led before.
    await page.getByRole('button', { name: `Factory: ${next}`, exact: true }).waitFor();
  };
  await choose('All factories', factory);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
  await page.getByRole('link', { name: 'here' }).waitFor();
  await choose(factory, other.factory);
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
  await page
    .getByRole('main')
    .getByRole('link', { name: /^hook\b/ })
    .waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.getByRole('option', { name: 'All factories' }).click();
  await expect.poll(() => new URL(page.url()).hash).toBe('#/');
  await page.getByRole('heading', { level: 1 }).waitFor();

  await visit(`/webhooks/${uid.slice(0, -1)}${uid.endsWith('x') ? 'y' : 'x'}`);
  await page.getByText('No webhook of this factory has this UID').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'here' }).click();
  await page.getByRole('heading', { name: 'here' }).waitFor();
  await visit('/runs/run_01m856whecx7r30kredhc56hrf');
  await page.getByText('This is the ID of a run of').waitFor();
  await visit('/nowhere/run_01m856whecx7r30kredhc56hrf');
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  await page.getByText('It has the ID of a run').waitFor();
});

browserTest('says that the daemon does not answer, and goes on by itself', async () => {
  const { page, api, visit } = await openDashboard();
  await createWebhook(api, 'deploys');
  await page.clock.install();
  await visit('/webhooks');
  await page.getByRole('link', { name: 'deploys' }).waitFor();
  let asked = 0;
  await page.route('**/api/v1/**', route => {
    asked += Number(route.request().url().endsWith('/sign-in'));
    return route.abort();
  });
  await page.getByRole('link', { name: 'Automations', exact: true }).first().click();
  const notice = page.getByRole('alert').filter({ hasText: 'The daemon does not answer' });
  await notice.waitFor();
  await page.goBack();
  await notice.getByText(/You see what was loaded by \d\d:\d\d:\d\d/).waitFor();
  expect(await page.getByRole('alert').count()).toBe(1);
  const readSeconds = async () => (await page.evaluate<number>('Date.now()')) / 1_000;
  // After 1, 2, 4, 8, 16, and then each 30 s. The time of the machine passes besides.
  const pass = async (atLeast: number) => {
    const [before, start] = [asked, await readSeconds()];
    for (let second = 0; second < atLeast; second++) await page.clock.runFor(1_000);
    return { asks: asked - before, seconds: (await readSeconds()) - start };
  };
  await eventually(async () => {
    await pass(4);
    return asked > 2;
  });
  const { asks, seconds } = await pass(120);
  expect(asks > 2 && asks < seconds / 30 + 3, `${asks} asks in ${seconds} s`).toBe(true);
  await page.unroute('**/api/v1/**');
  // Unless the page has asked by itself just now.
  await notice.getByRole('button', { name: 'Try now' }).evaluateAll(found => found[0]?.click());
  await notice.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'deploys' }).click();

  // Nothing can be changed meanwhile, and the button says why.
  const send = page.getByRole('button', { name: 'Send test' });
  await send.waitFor();
  await page.route('**/api/v1/**', route => route.abort());
  // Nothing on the page need be asking just now, and an answer may still be under way: what is sent finds out.
  await eventually(async () => {
    await send.press('Enter');
    return (await send.getAttribute('aria-disabled')) === 'true';
  });
  await send.and(page.getByTitle('The daemon does not answer.')).waitFor();
  await page.getByText('Nothing can be changed meanwhile').waitFor();
  await page.unroute('**/api/v1/**');
  // By itself, after some seconds.
  await eventually(async () => {
    await page.clock.runFor(1_000);
    return (await notice.count()) === 0;
  });
  await send.and(page.locator('[aria-disabled=false]')).waitFor();
  expect(await page.getByText('The daemon does not answer').count()).toBe(0);
});
