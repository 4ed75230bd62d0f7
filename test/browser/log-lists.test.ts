import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { bearerOf } from '../support/daemon.ts';
import { send } from '../support/http.ts';
import { type Api, browserTest, clipboardOf, openDashboard, textOf } from './browser.ts';
import { automate, createWebhook, deliver, listRuns, type SampleWebhook, triggerOn } from './samples.ts';

/** Two webhooks, an automation on the first, and deliveries of several kinds. */
async function prepareLog(api: Api) {
  const deploys = await createWebhook(api, 'deploys', { keepHeaders: ['X-GitHub-Event'] });
  const alerts = await createWebhook(api, 'alerts');
  await automate(api, 'triage', deploys.uid, { state: ['failed', 'passed'] });
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
  return (await listRuns(api)).map(({ state }) => state);
}

/** Two panes, the list and the delivery. */
const wide = { browser: { viewport: { width: 1440, height: 900 } } };

/** The IDs of the rows. */
function listed(page: Page): Promise<string[]> {
  return page.locator('[data-kind=row]').evaluateAll(rows => rows.map(row => row.dataset.key ?? ''));
}

function rowOf(page: Page, id: string): Locator {
  return page.locator(`[data-key="${id}"] > a`);
}

/** Chooses an entry of a chip. */
async function choose(page: Page, chip: string | RegExp, entry: string): Promise<void> {
  await page.getByRole('button', { name: chip }).click();
  await page
    .getByRole('listbox')
    .or(page.getByRole('dialog', { name: 'Time' }))
    .getByText(entry, { exact: true })
    .click();
}

async function search(page: Page, text: string): Promise<void> {
  await page.getByLabel('Search payloads').fill(text);
  await page.getByLabel('Search payloads').press('Enter');
}

browserTest('a list shows what each delivery says and started, and a link filters', async () => {
  const { page, api, visit } = await openDashboard(wide);
  const { deploys, alerts, push, failed, alert } = await prepareLog(api);
  await visit('/deliveries');
  const row = rowOf(page, failed);
  await row.waitFor();
  expect(await textOf(row)).toMatch(/deploysdeploymentfailedfailed\d\d:\d\d:\d\d$/);
  await row.getByLabel('Accepted').waitFor();
  await rowOf(page, push).getByLabel('succeeded').waitFor();
  expect(await textOf(rowOf(page, alert))).toMatch(/alerts.*warning/);
  const rejected = page.locator('.row').first();
  expect(await textOf(rejected)).toMatch(/alertsWrong token2 Brejected/);
  expect(await textOf(page.locator('.day'))).toMatch(/^Today, \w+day \d+ \w+$/);

  await search(page, 'order-4711');
  await expect.poll(() => listed(page)).toEqual([alert, failed]);
  await choose(page, 'Run state', 'failed');
  await expect.poll(() => listed(page)).toEqual([failed]);
  await choose(page, 'Time: Any time', 'Last hour');
  await expect
    .poll(() => page.url())
    .toMatch(/#\/[^/]+\/deliveries\?(?=.*search=order-4711)(?=.*state=failed)(?=.*since=1h)/);

  const link = page.url();
  await visit('/webhooks');
  await page.goto(link);
  await expect.poll(() => listed(page)).toEqual([failed]);
  expect(await page.getByLabel('Search payloads').inputValue()).toBe('order-4711');
  await page.getByRole('button', { name: 'Time: Last hour' }).click();
  await page.getByLabel('To', { exact: true }).fill('2020-01-01T00:00');
  await page.keyboard.press('Escape');
  await page.getByText('No deliveries match the filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => listed(page)).toHaveLength(4);
  await choose(page, 'Event', 'push');
  await expect.poll(() => listed(page)).toEqual([push]);
  await choose(page, 'Event: push', 'All events');
  await page.getByRole('button', { name: 'Event' }).click();
  await page.getByLabel('Find: Event').fill('deployment');
  await page.keyboard.press('Enter');
  await expect.poll(() => listed(page)).toEqual([failed]);
  await choose(page, 'Event: deployment', 'All events');
  await choose(page, 'Webhook', 'alerts');
  await expect.poll(() => listed(page)).toHaveLength(2);
  await page.getByRole('button', { name: 'Exceptions 1' }).click();
  await expect.poll(() => listed(page)).toHaveLength(1);
  expect(page.url()).toMatch(/outcome=Duplicate%2CRejected/);
  await page.getByRole('button', { name: 'Exceptions 1' }).click();
  await expect.poll(() => listed(page)).toHaveLength(2);

  await visit('/runs');
  const signs = () => page.locator('.row.r > svg').evaluateAll(list => list.map(each => each.ariaLabel));
  await expect.poll(signs).toEqual(['failed', 'succeeded']);
  await page.getByRole('button', { name: 'Succeeded', exact: true }).click();
  await expect.poll(signs).toEqual(['succeeded']);
  expect(page.url()).toMatch(/runs\?state=succeeded$/);

  // A search says how far it is, and can be stopped and continued: the first part finds nothing, and the second is held.
  const held = Promise.withResolvers<void>();
  let parts = 0;
  const searches = /\/deliveries\?(?!.*after=).*search=/;
  await page.route(searches, async route => {
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
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Show older deliveries' }).waitFor();
  held.resolve();
  expect(await listed(page)).toEqual([]);
  await page.getByLabel('Search payloads').fill('');
  await rowOf(page, failed).waitFor();
  await page.unroute(searches);

  // Rows and what becomes of their runs come by themselves. Many that are refused for one reason become one row.
  await page.getByText('live', { exact: true }).waitFor();
  const later = await deliver(deploys, { state: 'passed', n: 'later' });
  await rowOf(page, later).getByLabel('succeeded').waitFor();
  for (let n = 0; n < 2; n++) await deploys.post({ n }, 'wrong');
  for (let n = 0; n < 4; n++) await alerts.post({ n }, 'wrong');
  const between = await deliver(deploys, { state: 'other' });
  await alerts.post({}, 'wrong');
  const fold = page.getByRole('button', { name: /^5 more like it since \d\d:\d\d:\d\d$/ });
  await fold.waitFor();
  await expect.poll(async () => (await listed(page)).length).toBe(8);
  expect((await listed(page))[1]).toBe(between);
  await fold.click();
  await expect.poll(async () => (await listed(page)).length).toBe(13);
  await page.getByRole('button', { name: /^Fold 5 like it/ }).click();
  await expect.poll(async () => (await listed(page)).length).toBe(8);
});

browserTest('a delivery opens beside the list, which is neither read again nor moved', async () => {
  const { page, api, visit } = await openDashboard(wide);
  const { deploys, push, failed, alert } = await prepareLog(api);
  await visit('/deliveries?since=1h');
  await rowOf(page, failed).waitFor();
  await page.getByText('live', { exact: true }).waitFor();
  const reads: string[] = [];
  page.on('request', request => {
    if (/\/deliveries\?.*limit=40/.test(request.url())) reads.push(request.url());
  });
  await rowOf(page, failed).click();
  await page.getByRole('heading', { name: 'deployment' }).waitFor();
  expect(await rowOf(page, failed).getAttribute('aria-current')).toBe('true');
  expect(page.url()).toMatch(new RegExp(`/deliveries/${failed}\\?since=1h$`));

  // The keys go on from there, and the detail follows.
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'push' }).waitFor();
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  await expect.poll(() => page.url()).toContain(alert);
  await page.locator('.detail').getByText('warning').first().waitFor();
  await page.keyboard.press('o');
  await expect.poll(() => page.evaluate('document.activeElement.closest(".detail") !== null')).toBe(true);
  const clipboard = await clipboardOf(page);
  await page.keyboard.press('c');
  await page.getByText('Copied the ID').waitFor();
  expect(await clipboard()).toBe(alert);
  await page.keyboard.press('u');
  await page.getByText('Copied the link').waitFor();
  expect(await clipboard()).toMatch(new RegExp(`^http.*#/[^/]+/deliveries/${alert}$`));
  await page.keyboard.press('Shift+R');
  await page
    .getByRole('dialog', { name: 'Replay the delivery?' })
    .getByRole('button', { name: 'Cancel' })
    .click();
  await page.keyboard.press('f');
  await expect.poll(() => page.evaluate('document.activeElement.className')).toContain('chip');
  await page.keyboard.press('Escape');
  await expect.poll(() => page.url()).toMatch(/\/deliveries\?since=1h$/);
  await page.locator('.detail').waitFor({ state: 'detached' });
  expect(reads).toEqual([]);

  // In a narrow window, one takes the place of the other.
  await page.setViewportSize({ width: 900, height: 700 });
  await rowOf(page, push).click();
  await page.getByRole('heading', { name: 'push' }).waitFor();
  expect(await rowOf(page, push).isVisible()).toBe(false);
  await page.getByRole('navigation', { name: 'Back' }).getByRole('link', { name: 'Deliveries' }).click();
  await rowOf(page, push).waitFor();
  expect(reads).toEqual([]);

  // What is not found has its heading in each window.
  await page.setViewportSize(wide.browser.viewport);
  await visit('/deliveries/dlv_unknown');
  const missing = page.getByRole('heading', { level: 1, name: 'Delivery not found' });
  await missing.waitFor();
  await page.setViewportSize({ width: 900, height: 700 });
  await missing.waitFor();

  // A duplicate shows its original.
  await sendEvent(deploys, 'deployment', { state: 'failed', order: 'order-4711' });
  await page.setViewportSize(wide.browser.viewport);
  await visit('/deliveries');
  const duplicate = page.locator('.row', { hasText: 'duplicate' });
  expect(await textOf(duplicate)).toContain('deploymentfailedduplicate');
  await duplicate.click();
  await page.getByText('A duplicate: it started no run.').waitFor();
  await page.getByRole('tree', { name: 'Payload' }).getByText('"order-4711"').waitFor();
  await page.getByRole('region', { name: 'Runs' }).getByText('triage').waitFor();
  expect(await page.getByRole('button', { name: 'Replay…' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Open the original' }).click();
  await expect.poll(() => page.url()).toContain(failed);

  // Each run says which attempt of how many it is at.
  await visit(`/deliveries/${push}`);
  await page.route(`**/deliveries/${failed}`, async route => {
    const response = await route.fetch();
    const { runs, ...others } = await response.json();
    const again = { ...runs[0], attempts: 2, attemptsMax: 3 };
    return route.fulfill({ response, json: { ...others, runs: [again] } });
  });
  await visit(`/deliveries/${failed}`);
  await page.getByText(/failed · attempt 2 of 3/).waitFor();
});

browserTest('replays what the filters choose after it has said how many, and can be stopped', async () => {
  const { page, api, visit } = await openDashboard(wide);
  const { deploys } = await prepareLog(api);
  await visit('/deliveries?webhook=deploys');
  await page.getByRole('button', { name: 'Replay these…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('The filters choose 2 deliveries.').waitFor();
  await choose(page, 'Automation: All that match', 'triage');
  await dialog.getByRole('button', { name: 'Replay 2 deliveries' }).click();
  await dialog.getByText('2 of 2 deliveries replayed.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => statesOf(api)).toEqual(['failed', 'succeeded', 'failed', 'succeeded']);

  // What does not match is counted by its reason.
  const triggers = [triggerOn(deploys.uid, { state: ['failed'] })];
  await api('PUT', '/automations/triage', { prompt: 'Look.', triggers });
  await page.getByRole('button', { name: 'Replay these…' }).click();
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
  await search(page, '"n"');
  await expect.poll(() => listed(page)).toHaveLength(3);
  await page.getByRole('button', { name: 'Replay these…' }).click();
  await dialog.getByRole('button', { name: 'Replay 3 deliveries' }).click();
  await dialog.getByText('1 of 3 deliveries').waitFor();
  await expect.poll(() => replays).toBe(2);
  await dialog.getByRole('button', { name: 'Stop' }).click();
  held.resolve();
  await dialog.getByText('2 of 3 deliveries replayed.').waitFor();
  await dialog.getByText('With the other 1, nothing was tried.').waitFor();
  expect(replays).toBe(2);
});

browserTest('a delivery is searched, copied, filtered by, compared, and says why', async () => {
  const { page, api, visit } = await openDashboard({
    browser: { ...wide.browser, timezoneId: 'Asia/Tokyo' },
  });
  const webhook = await createWebhook(api, 'deploys');
  const before = await deliver(webhook, { state: 'passed', service: 'checkout' });
  await deliver(webhook, { kind: 'other' });
  const lines = Array.from({ length: 200 }, (_, line) => `line ${line % 100 === 50 ? 'needle' : line}`);
  const id = await deliver(webhook, { state: 'failed', service: 'checkout', deep: { er: { lines } } });
  await visit(`/deliveries/${id}`);
  const tree = page.getByRole('tree', { name: 'Payload' });
  await tree.getByText('"failed"').waitFor();
  // Two levels are open.
  await tree.getByText('er', { exact: true }).waitFor();
  expect(await tree.getByText('lines').count()).toBe(0);
  const search = page.getByLabel('Search the payload');
  await search.fill('NEEDLE');
  await page.getByText('1 of 2').waitFor();
  const found = tree.locator('.is-found');
  const isSeen = () =>
    page.evaluate<boolean>(`(() => {
    const [mark, box] = ['.is-found mark', '.pane + .pane'].map(each =>
      document.querySelector(each).getBoundingClientRect());
    return mark.top >= box.top && mark.bottom <= box.bottom;
  })()`);
  await expect.poll(isSeen).toBe(true);
  expect(await textOf(found)).toContain('[50]"line needle"');
  await search.press('Enter');
  await page.getByText('2 of 2').waitFor();
  await expect.poll(isSeen).toBe(true);
  expect(await textOf(found)).toContain('[150]');
  await search.press('Shift+Enter');
  await page.getByText('1 of 2').waitFor();
  await page.getByRole('button', { name: 'Previous match' }).click();
  await page.getByText('2 of 2').waitFor();
  await expect.poll(isSeen).toBe(true);
  await search.fill('checkout');
  await page.getByText('1 of 1').waitFor();

  const clipboard = await clipboardOf(page);
  await found.getByRole('button', { name: 'Copy path' }).click();
  await expect.poll(clipboard).toBe('$.service');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByRole('button', { name: 'Copied as curl' }).waitFor();
  const command = await clipboard();
  expect(command).toContain(`curl --globoff ${webhook.url}`);
  expect(command).toContain('Authorization: Bearer $WEBHOOK_SECRET');
  expect(command).toContain('"state":"failed"');

  await page.getByRole('button', { name: 'Compare' }).click();
  const differences = page.locator('.differences');
  await expect.poll(() => textOf(page.getByRole('region', { name: 'Comparison' }))).toMatch(/differs in/);
  await page.getByRole('button', { name: /^Other delivery/ }).click();
  await page.getByRole('option', { name: /passed/ }).click();
  await expect.poll(() => textOf(differences)).toMatch(/^\$\.state"passed""failed"\$\.deep/);
  expect(
    await page.getByRole('region', { name: 'Comparison' }).getByRole('link').getAttribute('href'),
  ).toContain(before);

  const automate = found.getByRole('link', { name: 'Write an automation for $.service' });
  const draft = await automate.getAttribute('href');
  await found.getByRole('button', { name: 'Filter by this value' }).click();
  await expect.poll(() => listed(page)).toEqual([id, before]);
  expect(page.url()).toContain(`${id}?search=%22checkout%22`);
  await search.fill('');

  // By keys, as in any tree.
  await tree.getByRole('treeitem').first().focus();
  for (const key of ['End', 'ArrowRight', 'ArrowDown', ...Array(4).fill('ArrowLeft')])
    await page.keyboard.press(key);
  await expect.poll(() => tree.getByText('er', { exact: true }).count()).toBe(0);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Download the body' }).click();
  expect((await saved).suggestedFilename()).toBe(`${id}.json`);
  await page.getByRole('button', { name: 'Raw' }).click();
  expect(await textOf(page.locator('pre.raw'))).toMatch(/^\{"state":"failed","service"/);
  await page.getByRole('button', { name: 'Identity' }).click();
  await page.getByText('from a hash of the body').waitFor();

  // It says why: what matched, what nearly did, and the others folded.
  const events = await createWebhook(api, 'events', { keepHeaders: ['X-GitHub-Event'] });
  const create = (name: string, payload: object, headers?: object) => {
    const { filter, ...trigger } = triggerOn(events.uid, payload);
    const triggers = [{ ...trigger, filter: { ...filter, ...(headers && { headers }) } }];
    return api('POST', '/automations', { name, prompt: 'Look.', triggers });
  };
  await create('act', { state: ['failed'] });
  await create('miss', { state: ['Failed'] });
  for (const other of ['issues', 'push']) {
    await create(`on-${other}`, { state: ['failed'] }, { 'X-GitHub-Event': [other] });
  }
  const event = await sendEvent(events, 'deployment', { state: 'failed' });
  await visit(`/deliveries/${event}`);
  const why = page.getByRole('region', { name: 'Why' });
  await why.getByText('2 others listen to other events').waitFor();
  expect(await why.locator('.judged').allTextContents()).toEqual(['actmatched', 'missnearly matched']);
  expect(await textOf(why.locator('.clauses').first())).toMatch(/\$\.state in \[failed\]is failed/);
  expect(await textOf(why.locator('.clauses').last())).toMatch(/is failed, did you mean \[failed\]\?/);
  await why.getByRole('button', { name: /others listen/ }).click();
  await why.getByText('on-issues').waitFor();
  expect(await textOf(why.locator('.clauses').last())).toMatch(/X-GitHub-Event in \[push\]is deployment/);

  // Times are local or in UTC, and the browser remembers which.
  const { at } = await api<{ at: string }>('GET', `/deliveries/${event}`);
  const clock = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone }).format(Date.parse(at));
  await visit(`/deliveries/${event}`);
  const detail = page.locator('.detail');
  await detail.getByText(clock('Asia/Tokyo')).waitFor();
  await page.getByRole('button', { name: 'UTC' }).click();
  await detail.getByText(`${clock('UTC')} UTC`).waitFor();
  await page.reload();
  await detail.getByText(`${clock('UTC')} UTC`).waitFor();
  await visit('/deliveries?since=2026-01-31T14:05:00.000Z');
  const from = async () => {
    await page.getByRole('button', { name: /^Time: Since/ }).click();
    const value = await page.getByLabel('From', { exact: true }).inputValue();
    await page.keyboard.press('Escape');
    return value;
  };
  expect(await from()).toBe('2026-01-31T14:05');
  await page.getByRole('button', { name: 'Local' }).click();
  expect(await from()).toBe('2026-01-31T23:05');

  await page.evaluate(`location.href = ${JSON.stringify(draft)}`);
  await page.getByText('Would have started 2 of the last 3').waitFor();
  const written = await page.locator('.cm-line').allTextContents();
  expect(written.join('\n')).toMatch(/webhook: deploys\n +payload:\n +service:\s+(\[ ?|- )checkout/);
});
