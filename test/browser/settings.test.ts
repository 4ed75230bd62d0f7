import { expect } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { AlertState } from '../../store/ports/alerts.ts';
import { eventually } from '../support/eventually.ts';
import { makeUpstream } from '../support/git-samples.ts';
import { storeIn } from '../support/stored.ts';
import {
  addSettings,
  browserTest,
  type Dashboard,
  enter,
  makeToken,
  openDashboard,
  openPage,
  textOf,
} from './browser.ts';
import { factoryOf, followUpstream } from './definition-samples.ts';
import { inEachLook, readOverhang } from './looks.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

const minuteMs = 60_000;

// Nobody listens there.
addSettings({ alerts: [{ url: 'http://127.0.0.1:9/alerts', secret: 'ALERTS' }] });

const content = (page: Dashboard['page']) => page.locator('.side > div');
const sections = (page: Dashboard['page']) => page.getByRole('navigation', { name: 'Settings' });

browserTest('branch: names each mistake of a refused commit, and the command that mends it', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/deploys.yaml': 'secretName: S\n' }, 'Add deploys');
  const dashboard = await openDashboard();
  const { page, keep, visit } = dashboard;
  const reconcile = await followUpstream(dashboard, upstream.bare);
  await reconcile();
  upstream.commit(
    {
      'webhooks/deploys.yaml': 'secretName: S\nauthMode: tokn\n',
      'webhooks/linear.yaml': 'secretName: LINEAR\n',
    },
    'Say the mode',
  );
  await reconcile();
  upstream.commit({ 'webhooks/deploys.yaml': 'secretName: S\n' }, 'Leave the mode out');
  await reconcile();
  await visit('/settings/branch');
  await page.getByText(/^main cannot be applied since/).waitFor();
  const notice = page.locator('.notice');
  expect(await textOf(notice)).toMatch(/is still live.*webhooks\/linear\.yaml:1:13 .*LINEAR/);
  expect(await textOf(notice.locator('.copyline'))).toMatch(
    /^\$ hookmill --factory test-\d+ secrets generate LINEAR/,
  );
  await sections(page).getByRole('img', { name: 'cannot be applied' }).waitFor();
  await sections(page).getByRole('img', { name: '1 value missing' }).waitFor();
  const commits = page.getByRole('list', { name: 'Commits, newest first' }).getByRole('listitem');
  expect(await commits.allTextContents()).toEqual([
    expect.stringMatching(/Leave the mode out.*tip of the branch · refused: 1 error$/),
    expect.stringMatching(/Say the mode.*refused: [12] errors?$/),
    expect.stringMatching(/Add deploys.*live · 1 added, 0 changed, 0 destroyed$/),
  ]);
  expect(await textOf(content(page))).toContain('Behind2 commits');
  await keep('settings-branch');
  await sections(page)
    .getByRole('link', { name: /^Secrets/ })
    .click();
  const missing = page.getByRole('row', { name: /LINEAR/ });
  expect(await textOf(missing)).toMatch(/^LINEARmissinglinear/);
  await missing.getByRole('button', { name: 'Copy command that sets LINEAR' }).waitFor();
  await keep('settings-secrets');
});

browserTest('branch: asks before it suspends, resumes, and asks for a look', async () => {
  const upstream = makeUpstream();
  upstream.commit({ 'webhooks/deploys.yaml': 'secretName: S\n' }, 'Add deploys');
  const dashboard = await openDashboard();
  const { page, api, keep, visit } = dashboard;
  await (await followUpstream(dashboard, upstream.bare))();
  const readReconcile = async () =>
    (await api<{ reconcile: Record<'suspendedAt' | 'askedAt', string | null> }>('GET', '/status')).reconcile;
  await visit('/settings/branch');
  await page.getByRole('button', { name: 'Suspend…' }).click();
  const question = page.getByRole('dialog', { name: 'Suspend main?' });
  await question.getByRole('button', { name: 'Keep following it' }).click();
  expect(await readReconcile()).toMatchObject({ suspendedAt: null });
  await page.getByRole('button', { name: 'Suspend…' }).click();
  await question.getByRole('button', { name: 'Suspend main' }).click();
  await page.getByText(/^Suspended since \d\d:\d\d\.$/).waitFor();
  await sections(page).getByRole('img', { name: 'suspended' }).waitFor();
  expect(await readReconcile()).toMatchObject({ suspendedAt: expect.any(String) });
  await keep('settings-suspended');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Try now' }).click();
  await page.getByText('no daemon has looked yet').waitFor();
  expect(await readReconcile()).toMatchObject({ suspendedAt: null, askedAt: expect.any(String) });
});

browserTest('branch: says what was changed by hand, by whom, and what it is in its file', async () => {
  const dashboard = await openDashboard();
  const { page, api, keep, visit } = dashboard;
  await factoryOf(dashboard);
  const files = [{ path: 'webhooks/deploys.yaml', content: 'secretName: S\n' }];
  const { webhooks } = await api<{ webhooks: readonly { readonly uid: string }[] }>('POST', '/apply', {
    ...{ files, origin: 'ci' },
  });
  await api('PATCH', `/webhooks/${webhooks[0]?.uid}`, { enabled: false });
  await visit('/status');
  await page.getByText('This factory follows no branch. It is managed by definition files').waitFor();
  expect(await textOf(content(page))).toMatch(
    /deploys is disabled here, enabled in its file · manage-\w+, \d\d:\d\d:\d\d/,
  );
  expect(await textOf(content(page).locator('.diff'))).toBe('- enabled: true\n+ enabled: false\n');
  await sections(page).getByRole('img', { name: 'drift' }).waitFor();
  expect(await page.getByRole('button', { name: /Suspend|Try now/ }).count()).toBe(0);
  await keep('settings-drift');
});

browserTest('tokens: shows a new one once, and revokes it when somebody says so', async () => {
  const { page, api, daemon, factory, keep, visit } = await openDashboard();
  await visit('/settings/tokens');
  await page.getByRole('button', { name: 'Create token…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('ci plan');
  await page.getByRole('button', { name: '30 days' }).click();
  // A manager of one factory cannot make tokens for all.
  expect(await page.getByText('For all factories').count()).toBe(0);
  await page.getByRole('button', { name: 'Create token', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('ci-plan');
  await keep('settings-new-token');
  await page.getByRole('button', { name: 'Create token', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'API token ci-plan' });
  const token = await textOf(dialog.locator('.copyline code'));
  expect(token).toMatch(/^hmk_[\w-]{43}$/);
  // It stays until somebody says that it is stored.
  await page.keyboard.press('Escape');
  await visit('/settings/audit');
  await dialog.waitFor();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  expect(await page.content()).not.toContain(token);
  const use = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${daemon.managementUrl}/api/v1/factories/${factory}/status`, { headers })).status;
  };
  expect(await use()).toBe(200);
  await visit('/settings/tokens');
  const row = page.getByRole('row', { name: /^ci-plan/ });
  expect(await textOf(row)).toMatch(/^ci-planread/);
  await row.getByRole('button', { name: 'Revoke ci-plan…' }).click();
  await page.getByRole('button', { name: 'Keep it' }).click();
  expect(await use()).toBe(200);
  await keep('settings-tokens');
  await row.getByRole('button', { name: 'Revoke ci-plan…' }).click();
  await page.getByRole('button', { name: 'Revoke ci-plan', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  expect(await use()).toBe(401);
  expect(JSON.stringify(await api('GET', '/tokens'))).not.toContain('ci-plan');
});

browserTest('sign-in: signs out all other sessions of the same person', async () => {
  const { page, daemon, factory, keep, visit } = await openDashboard({ isSignedOut: true });
  const token = await makeToken(daemon, 'manage', factory);
  const others = [await openPage(), await openPage()];
  for (const other of others) await enter(other, daemon, token);
  await enter(page, daemon, await makeToken(daemon, 'read', factory));
  await enter(page, daemon, token);
  await visit('/settings/sign-in');
  await page.getByText('none; people sign in with API tokens').waitFor();
  expect(await textOf(content(page))).toMatch(/Permissionmanage test-\d+/);
  await keep('settings-sign-in');
  await page.getByRole('button', { name: 'Sign out my others…' }).click();
  await page.getByRole('button', { name: 'End 2 sessions' }).click();
  await page.getByText('Ended 2 sessions').waitFor();
  await others[0]?.goto(daemon.managementUrl);
  await others[0]?.getByLabel('API token').waitFor();
  // The session of the other token is not of the same person.
  await page.getByRole('row', { name: /^read-/ }).waitFor();
  await page.getByText('this session').waitFor();
});

browserTest('alerts: acknowledges and mutes what is open, lists the past, and receivers', async () => {
  const { page, api, daemon, factory, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const keys = { order: '$.issue', onFailure: 'hold', attempts: 1 };
  await api('POST', '/automations', {
    name: 'triage',
    prompt: 'Look.',
    triggers: [triggerOn(webhook.uid)],
    ...keys,
  });
  for (const step of [1, 2]) await deliver(webhook, { state: 'fail', issue: 481, step });
  await addPastAlerts(daemon, factory);
  const readAlerts = async () =>
    (await api<{ alerts: readonly Record<'status' | 'acknowledged' | 'muted', unknown>[] }>('GET', '/alerts'))
      .alerts;
  await eventually(async () => (await readAlerts()).some(({ status }) => status === 'open'));
  await visit('/settings/alerts');
  const held = page.getByRole('row', { name: /triage holds runs/ });
  await held.waitFor();
  await sections(page).getByText('1 open').waitFor();
  const past = page.getByRole('table').nth(1).getByRole('row');
  // What ended over 30 days ago is not shown.
  expect((await past.allTextContents()).slice(1)).toEqual([
    expect.stringMatching(/^The last 3 runs failed\.runs\.failing22 min/),
  ]);
  await expect
    .poll(() => textOf(page.getByRole('row', { name: /127\.0\.0\.1:9/ })))
    .toMatch(/standard-webhooksALERTS/);
  await keep('settings-alerts');
  await held.getByRole('button', { name: 'Acknowledge: triage holds runs' }).click();
  await held.getByText(/^manage-\w+, /).waitFor();
  await held.getByRole('button', { name: 'More: triage holds runs' }).click();
  await page.getByRole('menuitem', { name: 'Mute for 8 hours' }).click();
  await held.getByText(/^muted until/).waitFor();
  expect(await sections(page).getByText('open').count()).toBe(0);

  // The jump leads to one alert, however old, and says if it is not there.
  const marked = page.locator('tr[aria-current]');
  await visit(`/settings/alerts?alert=alr_${'0'.repeat(26)}`);
  await marked.getByText('The last 3 runs failed.').waitFor();
  expect(await marked.count()).toBe(1);
  await visit(`/settings/alerts?alert=alr_${'7'.repeat(26)}`);
  await page.getByText(`alr_${'7'.repeat(26)} is no longer kept.`).waitFor();
  expect(await marked.count()).toBe(0);
  const [open] = await readAlerts();
  expect(open).toMatchObject({ acknowledged: { by: expect.any(String) }, muted: { by: expect.any(String) } });
  await inEachLook(page, async look => {
    expect(await readOverhang(page), look).toBeLessThanOrEqual(0);
    await keep(`settings-alerts-acknowledged-${look}`);
  });
});

/** One that ended an hour ago, and one that ended 31 days ago. */
async function addPastAlerts({ workspace }: Dashboard['daemon'], factory: string): Promise<void> {
  const nowMs = Date.now();
  const past = [31 * 24 * 60, 60].map((minutes, index) => ({
    ...{ id: `alr_${String(index).repeat(26)}`, type: 'runs.failing' as const, factory },
    ...{ subject: 'triage', name: 'triage', reason: 'the last 3 runs failed' },
    ...{ sinceMs: nowMs - (minutes + 22) * minuteMs, endedMs: nowMs - minutes * minuteMs },
    ...{ toldMs: null, calmSinceMs: null },
  }));
  const store = storeIn(homeAt(workspace.home));
  await store.alerts.change((state: AlertState) => ({ ...state, past }));
  await store.close();
}

browserTest('audit log: says who changed what, by days, and reads on', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const { uid } = await createWebhook(api, 'deploys');
  for (let count = 0; count < 60; count++) await api('PATCH', `/webhooks/${uid}`, { enabled: count % 2 > 0 });
  await createWebhook(api, 'spare');
  await visit('/audit');
  await page.getByRole('rowheader', { name: /^Today, / }).waitFor();
  expect(await textOf(page.getByRole('row', { name: /spare/ }))).toMatch(
    /^Created webhook sparemanage-\w+127\.0\.0\.1\d\d:\d\d:\d\d$/,
  );
  await keep('settings-audit');
  const oldest = page.getByRole('row', { name: /Created webhook deploys/ });
  const older = page.getByRole('button', { name: 'Show older changes' });
  expect(await oldest.count()).toBe(0);
  await older.click();
  await oldest.waitFor();
  expect(await page.getByRole('rowheader').count()).toBe(1);
});

browserTest('daemon: shows what answers, its limits and its runners', async () => {
  const { page, daemon, visit, keep } = await openDashboard({ isReader: true });
  await visit('/settings/daemon');
  await page.getByText('a home on one machine').waitFor();
  const text = await textOf(content(page));
  expect(text).toContain(`Ingress${daemon.ingressUrl}`);
  expect(text).toContain('100,000 a minute, of each webhook');
  await page.getByRole('row', { name: /^default command/ }).waitFor();
  await keep('settings-daemon');
});

browserTest('shows to readers no audit log, no tokens, and nothing that changes something', async () => {
  const { page, api, visit } = await openDashboard({ isReader: true });
  await createWebhook(api, 'deploys');
  await visit('/settings/secrets');
  await page.getByRole('row', { name: /DEPLOYS_TOKEN/ }).waitFor();
  expect(await sections(page).getByRole('link').allTextContents()).toEqual([
    ...['Branch', 'Secrets', 'Sign-in', 'Alerts', 'Daemon'],
  ]);
  const buttons = content(page).getByRole('button', {
    name: /create|set|suspend|try|revoke|acknowledge|more/i,
  });
  for (const section of ['branch', 'secrets', 'alerts', 'daemon']) {
    await visit(`/settings/${section}`);
    await content(page).getByRole('heading').first().waitFor();
    expect(await buttons.count(), section).toBe(0);
  }
  await visit('/settings/audit');
  await page.getByText('You need the manage permission to see: Audit log.').waitFor();
  await visit('/settings/nothing');
  await page.getByText('There are no settings at this address.').waitFor();
});
