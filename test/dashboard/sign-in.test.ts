import { expect } from 'vitest';
import { browserTest, makeToken, openDashboard, signIn, visit } from './browser.ts';
import { createWebhook } from './samples.ts';

browserTest('signs in with a token, refuses an unknown one, and signs out', async () => {
  const { page, daemon, keep } = await openDashboard({ signedOut: true });
  await page.getByLabel('API token').fill('hm_unknown');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('unknown or revoked').waitFor();
  await keep('sign-in');
  const token = await makeToken(daemon, 'manage');
  await signIn(page, token);
  // The token is gone from the page, and no script can read what stands for it.
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])';
  expect(await page.evaluate<string>(kept)).toBe('[{},{},"",null]');
  expect(await page.content()).not.toContain(token);
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API token').waitFor();
  await page.reload();
  await page.getByLabel('API token').waitFor();
});

browserTest('asks to sign in again when the session is over, and goes on at the same place', async () => {
  const dashboard = await openDashboard();
  const { page, api, daemon } = dashboard;
  const { uid } = await createWebhook(api, 'deploys');
  await visit(dashboard, `/default/webhooks/${uid}`);
  await page.getByRole('switch').waitFor();
  await page.context().clearCookies();
  await page.getByRole('switch').click();
  await page.getByText('Your session is over').waitFor();
  await signIn(page, await makeToken(daemon, 'manage'));
  await page.getByRole('heading', { level: 1, name: 'deploys' }).waitFor();
});

browserTest('switches between factories', async () => {
  const { page } = await openDashboard({
    prepare: async (api, daemon) => {
      await createWebhook(api, 'here');
      await daemon.webhook();
    },
  });
  await page.getByRole('heading', { name: 'Factories' }).waitFor();
  await page.getByRole('link', { name: 'default', exact: true }).click();
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'here' }).waitFor();
  await page.getByLabel('Factory', { exact: true }).first().selectOption({ index: 1 });
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'hook', exact: true }).waitFor();
});

browserTest('says that the daemon does not answer, and tries again', async () => {
  const { page } = await openDashboard();
  await page.getByText('No automations yet').waitFor();
  await page.route('**/api/v1/**', route => route.abort());
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('alert').getByText('The daemon does not answer').waitFor();
  await page.unroute('**/api/v1/**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No webhooks yet').waitFor();
});
