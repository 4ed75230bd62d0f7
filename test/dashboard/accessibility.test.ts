import { expect } from 'vitest';
import { violations } from './axe.ts';
import { browserTest, chooseInAccount, openDashboard } from './browser.ts';
import { inEachLook, readOverhang } from './looks.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

/** A page on a factory that has something to show everywhere, and how to open each of its places. */
async function openFullFactory() {
  const dashboard = await openDashboard();
  const { page, api, visit } = dashboard;
  const webhook = await createWebhook(api, 'deploys');
  const triggers = [triggerOn(webhook.uid, { state: ['failed'] }), triggerOn('wh_0123456789abcdefghijklmn')];
  const keys = {
    ...{
      concurrency: 2,
      concurrencyKey: '$.repository.full_name',
      order: '$.service.name',
      onFailure: 'hold',
    },
    ...{ debounce: { for: '1s' }, timeLimit: '10m', attempts: 1, runsPerHour: 1_000 },
  };
  await api('POST', '/automations', { name: 'triage-failed-deploys', prompt: 'Look.', triggers, ...keys });
  const long = { state: 'failed', url: `https://ci.example/${'long/'.repeat(60)}` };
  await deliver(webhook, { state: 'passed' });
  const delivery = await deliver(webhook, long);
  await webhook.post({}, 'wrong');
  const { runs } = await api<{ runs: readonly { readonly id: string }[] }>('GET', '/runs');
  const openRow = async () => page.locator('.row-summary').last().click();
  const askToReplay = async () => {
    await page.getByRole('button', { name: 'Replay all…' }).click();
    await page.getByText('The filters choose 2 deliveries.').waitFor();
  };
  const askForToken = async () => {
    await page.getByRole('button', { name: 'Create token…' }).click();
    await page.getByText('Expires after').waitFor();
  };
  const compare = async () => {
    await page.getByText('Compare with an earlier delivery').click();
    await page.getByLabel('Search the payload').fill('a');
    await page.locator('.diff').waitFor();
  };
  const mistype = async () => {
    await page.getByLabel('Runs with the same').fill('service.name');
    await page.getByText('did you mean $.service.name?').waitFor();
  };
  const places: readonly [name: string, place: string, text: string, then?: () => Promise<void>][] = [
    ['automations', '/automations', 'deleted webhook'],
    ['webhooks', '/webhooks', 'Bearer token'],
    ['webhook', `/webhooks/${webhook.uid}`, 'Recent deliveries', openRow],
    ['new-webhook', '/new-webhook', 'Bearer token'],
    ['deliveries', '/deliveries?state=failed&event=push&since=2026-01-31T14:05:00Z', 'No deliveries match'],
    ['deliveries-all', '/deliveries', 'All webhooks'],
    ['bulk-replay', '/deliveries', 'All webhooks', askToReplay],
    ['runs', '/runs', 'All automations', openRow],
    ['automation', '/automations/triage-failed-deploys', 'Would trigger', openRow],
    ['edit-automation', '/automations/triage-failed-deploys/edit', 'Would trigger', mistype],
    ['delivery', `/deliveries/${delivery}`, 'Started 1 run', compare],
    ['run', `/runs/${runs[0]?.id}`, 'The last attempt failed:'],
    ['settings-branch', '/settings/branch', 'Applied state'],
    ['settings-secrets', '/settings/secrets', 'DEPLOYS_TOKEN'],
    ['settings-tokens', '/settings/tokens', 'Last used', askForToken],
    ['settings-sign-in', '/settings/sign-in', 'this session'],
    ['settings-alerts', '/settings/alerts', 'Receivers'],
    ['settings-audit', '/settings/audit', 'Created webhook'],
    ['settings-daemon', '/settings/daemon', 'Limits'],
    ['nothing', '/nowhere', 'Page not found'],
  ];
  const openEach = async (look: (name: string) => Promise<void>) => {
    await visit();
    await chooseInAccount(page, 'Sessions');
    await page.getByText('this session').waitFor();
    await look('sessions');
    for (const [name, place, text, then] of places) {
      await visit(place);
      await page.getByText(text).first().waitFor();
      await then?.();
      await page.locator('.waiting').first().waitFor({ state: 'detached' });
      await look(name);
    }
  };
  return { ...dashboard, openEach };
}

browserTest(
  'axe finds nothing on any page in light and dark colours, and no page is wider than a phone',
  async () => {
    const { page, keep, openEach } = await openFullFactory();
    await openEach(name =>
      inEachLook(page, async look => {
        if (look !== 'phone') expect(await violations(page, look), `${name}-${look}`).toEqual([]);
        expect(await readOverhang(page), `${name}-${look}`).toBeLessThanOrEqual(0);
        await keep(`${name}-${look}`);
      }),
    );
  },
);

browserTest('a webhook is created, rotated and deleted with the keyboard only', async () => {
  const { page, visit } = await openDashboard();
  const focused = () =>
    page.evaluate<string>('(document.activeElement.textContent || document.activeElement.value).trim()');
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const tabTo = async (text: string) => {
    for (let tabs = 0; tabs < 40; tabs++) {
      await press('Tab');
      if ((await focused()).startsWith(text)) return;
    }
    throw new Error(`no way to ${text} by the Tab key`);
  };
  await visit('/webhooks');
  await page.getByText('No webhooks yet').waitFor();
  await tabTo('Create webhook');
  await press('Enter');
  await expect.poll(focused).toBe('New webhook');
  await page.getByText('Bearer token').waitFor();
  await press('Tab');
  await page.keyboard.type('payments');
  await press('Tab', 'ArrowDown', 'ArrowDown', 'Tab');
  await page.keyboard.type('git');
  await press('ArrowDown', 'ArrowUp', 'Enter');
  await page.getByText('Generate one (shown once)').waitFor();
  await tabTo('Create webhook');
  await press('Enter');
  await page.getByText('Shown once.').waitFor();
  expect(await violations(page)).toEqual([]);
  await tabTo('I have stored it');
  await press('Enter');
  await expect.poll(focused).toBe('Created payments');
  await tabTo('Open the webhook');
  await press('Enter');
  await expect.poll(focused).toBe('payments');
  await tabTo('Delete');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('Delete');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo('Cancel');
  await press('Enter');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await expect.poll(focused).toBe('Delete');
  await press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo('Delete webhook');
  await press('Enter');
  await expect.poll(focused).toBe('Webhooks');
  await page.getByText('No webhooks yet').waitFor();
});

browserTest('animates nothing if the user prefers reduced motion', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await visit(`/webhooks/${webhook.uid}`);
  await page.getByText('live', { exact: true }).waitFor();
  await deliver(webhook, {});
  await page.getByRole('button', { name: 'Accepted' }).waitFor();
  const moving = () => page.evaluate<number>('document.getAnimations().length');
  expect(await moving()).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await moving()).toBeGreaterThan(0);
});
