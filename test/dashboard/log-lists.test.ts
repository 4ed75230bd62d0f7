import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { bearerOf } from '../support/daemon.ts';
import { send } from '../support/http.ts';
import { type Api, browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, type SampleWebhook, triggerOn, waitForHealth } from './samples.ts';

/** Two webhooks, an automation on the first, and deliveries of several kinds. */
async function prepareLog(api: Api) {
  const deploys = await createWebhook(api, 'deploys', { keepHeaders: ['X-GitHub-Event'] });
  const alerts = await createWebhook(api, 'alerts');
  const triggers = [triggerOn(deploys.uid, { state: ['failed', 'passed'] })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
  const push = await sendEvent(deploys, 'push', { state: 'passed', service: { name: 'checkout' } });
  const failed = await sendEvent(deploys, 'deployment', { state: 'failed', order: 'order-4711' });
  const alert = await deliver(alerts, { level: 'warning', order: 'order-4711' });
  await alerts.post({}, 'wrong');
  await expect
    .poll(() => api('GET', '/deliveries?limit=1'))
    .toMatchObject({ deliveries: [{ outcome: 'Rejected (auth)' }] });
  await expect.poll(() => statesOf(api)).toEqual(['failed', 'succeeded']);
  return { deploys, alerts, push, failed, alert };
}

async function sendEvent(webhook: SampleWebhook, event: string, body: object): Promise<string> {
  const headers = { ...bearerOf(webhook.secret), 'X-GitHub-Event': event };
  return (await send(webhook.url, { headers, body: JSON.stringify(body) })).deliveryId ?? '';
}

async function statesOf(api: Api): Promise<string[]> {
  const { runs } = await api<{ runs: readonly { readonly state: string }[] }>('GET', '/runs');
  return runs.map(({ state }) => state);
}

function listed(page: Page): Promise<string[]> {
  return page.locator('.row-summary .id').allTextContents();
}

browserTest(
  'a list shows what each delivery says and started, and a link shows the same filters',
  async () => {
    const { page, api, visit, keep } = await openDashboard();
    const { push, failed, alert } = await prepareLog(api);
    await visit('/deliveries');
    const row = page.getByRole('button', { name: failed });
    await row.waitFor();
    expect(await textOf(row)).toMatch(
      /Accepted.*deploysdeployment\{"state":"failed","order":"order-4711"\}1 failed/,
    );
    expect(await textOf(page.getByRole('button', { name: push }))).toMatch(/1 succeeded/);
    expect(await textOf(page.getByRole('button', { name: alert }))).toMatch(/alerts.*no run/);
    await keep('deliveries');

    await page.getByLabel('Search payloads').fill('order-4711');
    await page.getByLabel('Search payloads').press('Enter');
    await expect.poll(() => listed(page)).toEqual([alert, failed]);
    await page.getByLabel('Run state').selectOption('failed');
    await expect.poll(() => listed(page)).toEqual([failed]);
    await page.getByLabel('Time range').selectOption('Last hour');
    await expect
      .poll(() => page.url())
      .toMatch(/#\/[^/]+\/deliveries\?(?=.*search=order-4711)(?=.*state=failed)(?=.*since=1h)/);
    await keep('deliveries-filtered');

    const link = page.url();
    await visit('/webhooks');
    await page.goto(link);
    await expect.poll(() => listed(page)).toEqual([failed]);
    expect(await page.getByLabel('Search payloads').inputValue()).toBe('order-4711');
    await page.getByLabel('Time range').selectOption('From … to …');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
    await page.getByText('No deliveries match the filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await expect.poll(() => listed(page)).toHaveLength(4);
    await page.getByText('More filters').click();
    await page.getByLabel('Event type').fill('push');
    await page.getByLabel('Event type').press('Enter');
    await expect.poll(() => listed(page)).toEqual([push]);

    await visit('/runs');
    await page.getByLabel('Run state').selectOption('succeeded');
    await expect.poll(() => listed(page)).toHaveLength(1);
    expect(await textOf(page.locator('.row-summary'))).toMatch(/^succeeded.*triage/);
    await keep('runs');
  },
);

browserTest('replays what the filters choose after it has said how many, and can be stopped', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const { deploys } = await prepareLog(api);
  await visit(`/webhooks/${deploys.uid}`);
  await page.getByRole('button', { name: 'Replay all…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The filters choose 2 deliveries.').waitFor();
  await dialog.getByLabel('Automation').selectOption('triage');
  await keep('bulk-replay');
  await dialog.getByRole('button', { name: 'Replay 2 deliveries' }).click();
  await dialog.getByText('2 of 2 deliveries replayed.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => statesOf(api)).toEqual(['failed', 'succeeded', 'failed', 'succeeded']);

  // What does not match is counted by its reason.
  const triggers = [triggerOn(deploys.uid, { state: ['failed'] })];
  await api('PUT', '/automations/triage', { prompt: 'Look.', triggers });
  await page.getByRole('button', { name: 'Replay all…' }).click();
  await dialog.getByRole('button', { name: 'Replay 2 deliveries' }).click();
  await dialog.getByText('1 of 2 deliveries replayed.').waitFor();
  await dialog.getByText('1 not replayed: No automation matches the delivery').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();

  // The second answer is held until the user has stopped it.
  for (let n = 0; n < 3; n++) await deliver(deploys, { state: 'failed', n });
  let replays = 0;
  const held = Promise.withResolvers<void>();
  await page.route('**/replay', async route => {
    if (++replays === 2) await held.promise;
    await route.continue();
  });
  await page.getByLabel('Search payloads').fill('"n"');
  await page.getByLabel('Search payloads').press('Enter');
  await expect.poll(() => listed(page)).toHaveLength(3);
  await page.getByRole('button', { name: 'Replay all…' }).click();
  await dialog.getByRole('button', { name: 'Replay 3 deliveries' }).click();
  await dialog.getByText('1 of 3 deliveries').waitFor();
  await expect.poll(() => replays).toBe(2);
  await dialog.getByRole('button', { name: 'Stop' }).click();
  held.resolve();
  await dialog.getByText('2 of 3 deliveries replayed.').waitFor();
  await dialog.getByText('With the other 1, nothing was tried.').waitFor();
  expect(replays).toBe(2);
});

browserTest('retries the failed runs that the filters choose', async () => {
  const { page, api, visit } = await openDashboard();
  await prepareLog(api);
  await visit('/runs');
  await page.getByRole('button', { name: 'Retry all failed…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Retry 1 failed run' }).click();
  await dialog.getByText('1 of 1 failed run queued again.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Run state').selectOption('succeeded');
  expect(await page.getByRole('button', { name: 'Retry all failed…' }).count()).toBe(0);
});

browserTest(
  'a delivery is searched from match to match, copied as curl, and compared with an earlier one',
  async () => {
    const { page, api, visit, keep } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    await deliver(webhook, { state: 'passed', service: 'checkout' });
    const lines = Array.from({ length: 200 }, (_, line) => `line ${line % 100 === 50 ? 'needle' : line}`);
    const id = await deliver(webhook, { state: 'failed', service: 'checkout', lines });
    await visit(`/deliveries/${id}`);
    const search = page.getByLabel('Search the payload');
    await search.fill('NEEDLE');
    await page.getByText('1 of 2').waitFor();
    const isSeen = () =>
      page.evaluate<boolean>(`(() => {
      const [mark, box] = ['mark.current', '.payload pre'].map(each =>
        document.querySelector(each).getBoundingClientRect());
      return mark.top >= box.top && mark.bottom <= box.bottom;
    })()`);
    await expect.poll(isSeen).toBe(true);
    await search.press('Enter');
    await page.getByText('2 of 2').waitFor();
    await expect.poll(isSeen).toBe(true);
    await search.press('Shift+Enter');
    await page.getByText('1 of 2').waitFor();
    await page.getByRole('button', { name: 'Previous match' }).click();
    await page.getByText('2 of 2').waitFor();
    await expect.poll(isSeen).toBe(true);
    await search.fill('checkout');
    await page.getByText('1 of 1').waitFor();

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copied as curl' }).waitFor();
    const command = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(command).toContain(`curl --globoff ${webhook.url}`);
    expect(command).toContain('Authorization: Bearer $WEBHOOK_SECRET');
    expect(command).toContain('"state":"failed"');

    await page.getByText('Compare with an earlier delivery').click();
    await expect
      .poll(async () => (await page.locator('.diff').allTextContents()).join(''))
      .toMatch(/- +"state": "passed",[\s\S]*\+ +"state": "failed",/);
    await keep('delivery-compared');
  },
);

browserTest('a row shows what became of its runs, without a reload', async () => {
  const { page, api, visit } = await openDashboard();
  const { deploys } = await prepareLog(api);
  await visit('/deliveries');
  await page.getByText('live', { exact: true }).waitFor();
  const id = await deliver(deploys, { state: 'passed', n: 'later' });
  await page.locator('.row', { hasText: id }).getByText('1 succeeded').waitFor();
});

browserTest('a search says how far it is, and can be stopped and continued', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const { failed } = await prepareLog(api);
  // The daemon finds nothing in the first part of the search, and the second part is held.
  const held = Promise.withResolvers<void>();
  let parts = 0;
  await page.route(/\/deliveries\?(?!.*after=).*search=/, async route => {
    parts++;
    if (parts === 2) await held.promise;
    if (parts !== 1) return route.continue().catch(() => undefined);
    const response = await route.fetch();
    const { deliveries } = await response.json();
    const next = `dlv_${'0'.repeat(26)}`;
    expect(deliveries).not.toEqual([]);
    return route.fulfill({ response, json: { deliveries: [], next, hasMore: true, searched: 12_345 } });
  });
  await visit('/deliveries?search=order-4711');
  await page.getByText(/Searched 12,345 deliveries, back to 1 Jan 1970/).waitFor();
  await keep('search-progress');
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Show older deliveries' }).waitFor();
  held.resolve();
  expect(await listed(page)).toEqual([]);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('button', { name: failed }).waitFor();
});

browserTest('times are local or in UTC, and the browser remembers which', async () => {
  const { page, api, visit } = await openDashboard({ browser: { timezoneId: 'Asia/Tokyo' } });
  const { failed } = await prepareLog(api);
  const { at } = await api<{ at: string }>('GET', `/deliveries/${failed}`);
  const clock = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone }).format(Date.parse(at));
  await visit(`/deliveries/${failed}`);
  await page.getByText(clock('Asia/Tokyo')).waitFor();
  await page.getByRole('button', { name: 'UTC' }).click();
  await page.getByText(`${clock('UTC')} UTC`).waitFor();
  await page.reload();
  await page.getByText(`${clock('UTC')} UTC`).waitFor();
  await visit('/deliveries?since=2026-01-31T14:05:00.000Z');
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-01-31T14:05');
  await page.getByRole('button', { name: 'UTC' }).click();
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-01-31T23:05');
});

browserTest(
  "a webhook's deliveries stand above the fold, and its set-up only before there are any",
  async () => {
    const { page, api, visit } = await openDashboard();
    const { deploys } = await prepareLog(api);
    // If the last request was not processed, the cause of that stands first, however long it is.
    await deliver(deploys, { state: 'passed', n: 'last' });
    await expect.poll(() => statesOf(api)).toEqual(['succeeded', 'failed', 'succeeded']);
    await waitForHealth(api, { [deploys.uid]: 'healthy' });
    const quiet = await createWebhook(api, 'quiet');
    const setUp = page.getByRole('button', { name: 'Set-up and definition' });
    await visit(`/webhooks/${quiet.uid}`);
    await page.getByText('No deliveries yet').waitFor();
    await expect.poll(() => setUp.getAttribute('aria-expanded')).toBe('true');
    await page.getByText('ingress URL').first().waitFor({ state: 'attached' });

    await visit(`/webhooks/${deploys.uid}`);
    await page.getByRole('heading', { level: 1, name: 'deploys' }).waitFor();
    const row = page.locator('.row-summary').first();
    await row.waitFor();
    await expect.poll(() => setUp.getAttribute('aria-expanded')).toBe('false');
    // Everything that stands above the row.
    await page.getByText('The last request was processed').waitFor();
    await page.getByRole('slider', { name: /^Time in the last/ }).waitFor();
    const box = await row.boundingBox();
    expect(box && box.y + box.height).toBeLessThan(page.viewportSize()?.height ?? 0);
    expect(await page.getByText('Set up the sender').count()).toBe(0);
  },
);
