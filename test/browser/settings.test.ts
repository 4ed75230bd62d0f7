import { expect } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { AlertState } from '../../store/ports/alerts.ts';
import { eventually } from '../support/eventually.ts';
import { makeUpstream } from '../support/git-samples.ts';
import { storeIn } from '../support/stored.ts';
import {
  addSettings,
  browserTest,
  chooseFromMenu,
  type Dashboard,
  openDashboard,
  textOf,
} from './browser.ts';
import { followUpstream } from './definition-samples.ts';
import { inEachLook, readOverhang } from './looks.ts';
import { automate, createWebhook, deliver, post } from './samples.ts';

const minuteMs = 60_000;

// Nobody listens there.
addSettings({ alerts: [{ url: 'http://127.0.0.1:9/alerts', secret: 'ALERTS' }] });

const content = (page: Dashboard['page']) => page.locator('.side > div');
const sections = (page: Dashboard['page']) => page.getByRole('navigation', { name: 'Settings' });

browserTest('branch: suspends, resumes, and names each mistake and its remedy', async () => {
  const upstream = makeUpstream();
  const revision = upstream.commit({ 'webhooks/deploys.yaml': 'secretName: S\n' }, 'Add deploys');
  const dashboard = await openDashboard();
  const { page, api, visit } = dashboard;
  const reconcile = await followUpstream(dashboard, upstream.bare);
  await reconcile();
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
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Try now' }).click();
  await page.getByText('no daemon has looked yet').waitFor();
  expect(await readReconcile()).toMatchObject({ suspendedAt: null, askedAt: expect.any(String) });

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
  await page.reload();
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
  await sections(page)
    .getByRole('link', { name: /^Secrets/ })
    .click();
  const missing = page.getByRole('row', { name: /LINEAR/ });
  expect(await textOf(missing)).toMatch(/^LINEARmissinglinear/);
  await missing.getByRole('button', { name: 'Copy command that sets LINEAR' }).waitFor();

  // So does the overview, of a factory that has had a delivery.
  const { webhooks } = await api<{ webhooks: readonly { readonly url: string }[] }>('GET', '/webhooks');
  const [{ url } = { url: '' }] = webhooks;
  expect((await post(url, {}, 'a-secret-of-thirty-two-characters')).status).toBe(202);
  await visit('/overview');
  await expect
    .poll(() => textOf(page.getByRole('list', { name: 'Needs attention' })))
    .toMatch(/^main cannot be applied; \w{7} is still livesince .*linear\.yaml.*LINEAR.*Copy command$/);

  // The webhooks are still those of the last good commit.
  await visit('/webhooks');
  await page.getByText('The last good state is still used.').waitFor();
  await page.getByRole('link', { name: 'deploys' }).click();
  await page.getByRole('link', { name: 'Definition', exact: true }).click();
  await page.getByText(`at commit ${revision.slice(0, 7)}`).waitFor();
  await page.getByText('a commit that renames it is not applied').waitFor();
  await page.getByText('The new value takes effect when the next change on the branch is applied.').waitFor();
  await chooseFromMenu(page, 'Disable…');
  await page.getByText('the next commit that is applied enables the webhook again').waitFor();
  await page.getByRole('button', { name: 'Disable deploys' }).click();
  await page.getByText('deploys is disabled and answers 404').waitFor();
  expect((await post(url, {}, '')).status).toBe(404);
});

browserTest('a token is shown once and revoked; the audit log reads on', async () => {
  const { page, api, daemon, factory, visit } = await openDashboard();
  await visit('/settings/tokens');
  await page.getByRole('button', { name: 'Create token…' }).click();
  await page.getByLabel('Name', { exact: true }).fill('ci plan');
  await page.getByRole('button', { name: '30 days' }).click();
  // A manager of one factory cannot make tokens for all.
  expect(await page.getByText('For all factories').count()).toBe(0);
  await page.getByRole('button', { name: 'Create token', exact: true }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('ci-plan');
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
  await row.getByRole('button', { name: 'Revoke ci-plan…' }).click();
  await page.getByRole('button', { name: 'Revoke ci-plan', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  expect(await use()).toBe(401);
  expect(JSON.stringify(await api('GET', '/tokens'))).not.toContain('ci-plan');

  const { uid } = await createWebhook(api, 'deploys');
  for (let count = 0; count < 60; count++) await api('PATCH', `/webhooks/${uid}`, { enabled: count % 2 > 0 });
  await createWebhook(api, 'spare');
  await visit('/audit');
  await page.getByRole('rowheader', { name: /^Today, / }).waitFor();
  expect(await textOf(page.getByRole('row', { name: /spare/ }))).toMatch(
    /^Created webhook sparemanage-\w+127\.0\.0\.1\d\d:\d\d:\d\d$/,
  );
  const oldest = page.getByRole('row', { name: /Created webhook deploys/ });
  const older = page.getByRole('button', { name: 'Show older changes' });
  expect(await oldest.count()).toBe(0);
  await older.click();
  await oldest.waitFor();
  expect(await page.getByRole('rowheader').count()).toBe(1);

  await visit('/settings/daemon');
  await page.getByText('a home on one machine').waitFor();
  const text = await textOf(content(page));
  expect(text).toContain(`Ingress${daemon.ingressUrl}`);
  expect(text).toContain('100,000 a minute, of each webhook');
  await page.getByRole('row', { name: /^default command/ }).waitFor();
});

browserTest('alerts: acknowledges and mutes what is open, lists the past, and receivers', async () => {
  const { page, api, daemon, factory, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const keys = { order: '$.issue', onFailure: 'hold', attempts: 1 };
  await automate(api, 'triage', webhook.uid, undefined, keys);
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
