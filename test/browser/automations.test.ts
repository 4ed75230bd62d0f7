import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { OfferedRunner } from '../../store/ports/daemon-records.ts';
import { storeIn } from '../support/stored.ts';
import { violations } from './axe.ts';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { automate, createWebhook, deliver, listRuns, triggerOn } from './samples.ts';

/** The text in the editor. */
async function readText(page: Page): Promise<string> {
  const lines = await page.locator('.cm-line').allTextContents();
  return lines.join('\n');
}

function editorOf(page: Page) {
  return page.getByRole('textbox', { name: 'Definition' });
}

/** Puts the cursor at the end of the line with this text. */
async function goToEndOf(page: Page, line: string): Promise<void> {
  await page.locator('.cm-line', { hasText: line }).click();
  await page.keyboard.press('End');
}

function slotOf(page: Page, label: string) {
  return page.getByRole('region', { name: 'Run control' }).getByRole('button', { name: `${label}:` });
}

/** Sets a key in its sentence. */
async function setSlot(page: Page, label: string, text: string): Promise<void> {
  await slotOf(page, label).click();
  await page.getByRole('dialog', { name: label }).getByRole('textbox', { name: label }).fill(text);
  await page.keyboard.press('Enter');
}

async function review(page: Page) {
  await page.getByRole('button', { name: /^Review changes|^Review and create/ }).click();
  return page.locator('dialog');
}

const cells = (page: Page) => page.locator('.cells a');

browserTest('creates an automation, with completions and its filter tested on what was sent', async () => {
  const { page, api, visit } = await openDashboard();
  await visit('/automations');
  await page.getByText('No automations yet').waitFor();
  await page.getByRole('link', { name: 'New automation' }).click();
  await page.getByText('This factory has no webhook yet.').waitFor();
  await page.getByText('There is no webhook the-name-of-a-webhook: its trigger never fires.').waitFor();
  await page.getByRole('link', { name: 'Add a webhook' }).click();
  await page.getByRole('heading', { level: 1, name: 'New webhook' }).waitFor();

  const webhook = await createWebhook(api, 'deploys');
  await deliver(webhook, { state: 'failed', service: { name: 'checkout' } });
  await deliver(webhook, { state: 'passed', service: { name: 'search' } });
  await visit('/new-automation');
  await page.getByText('Would have started 2 of the last 2').waitFor();
  const create = page.getByRole('button', { name: 'Review and create' });
  expect(await create.isDisabled()).toBe(true);
  await page.getByLabel('Name', { exact: true }).fill('triage');

  await goToEndOf(page, 'webhook: deploys');
  await page.keyboard.type('\npayload:\n  state: fail');
  await page.getByText('state must be a list of allowed values').waitFor();
  await page.getByText('1 mistake').waitFor();
  await page.getByRole('button', { name: 'Write [fail]' }).waitFor();
  await page.keyboard.type('ed');
  expect(await create.isDisabled()).toBe(true);
  await page.getByText('Tested as it was before the mistake.').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Write [failed]' }).click();
  await page.getByText('Would have started 1 of the last 2').waitFor();
  expect(await readText(page)).toContain('        state: [failed]');
  expect(await cells(page).evaluateAll(found => found.map(({ className }) => className))).toEqual(['', 'y']);

  const dialog = await review(page);
  await dialog.getByRole('button', { name: 'Create automation' }).click();
  await page.getByRole('heading', { level: 1, name: 'triage' }).waitFor();
  await page.getByText('No run has ended in seven days').waitFor();
  await deliver(webhook, { state: 'failed', n: 2 });
  await deliver(webhook, { state: 'passed' });
  expect(await api('GET', '/runs')).toMatchObject({ runs: [{ automation: 'triage' }] });

  // Keys, fields and values that were really sent are completed.
  await visit('/new-automation');
  await page.getByRole('row', { name: /\$\.service\.name/ }).waitFor();
  await goToEndOf(page, 'webhook: deploys');
  const options = page.getByRole('listbox', { name: 'Completions' }).getByRole('option');
  const choose = async (typed: string, label: string) => {
    await page.keyboard.type(typed);
    const option = options.filter({ hasText: label }).first();
    await option.click();
  };
  await choose('\npayl', 'payload');
  await choose('ser', 'service');
  await options.filter({ hasText: 'name' }).click();
  await options.filter({ hasText: 'checkout' }).click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('conc');
  await options.filter({ hasText: /^concurrency$/ }).click();
  await page.keyboard.type('1');
  expect(await readText(page)).toContain(
    '      webhook: deploys\n      payload:\n        service:\n          name: [checkout]\nconcurrency: 1',
  );
});

browserTest('edits, reviews, runs, pauses, disables and deletes an automation', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  for (const state of ['failed', 'Failed', 'passed']) await deliver(webhook, { state });
  await automate(api, 'triage', webhook.uid);
  await visit('/automations/triage/edit');
  await page.getByText('Would have started 3 of the last 3').waitFor();
  await page.getByRole('button', { name: 'Add $.state' }).click();
  await page.getByLabel('failed', { exact: true }).check();
  await page.getByRole('button', { name: 'Add clause' }).click();
  await page.getByText('Would have started 1 of the last 3').waitFor();
  expect(await readText(page)).toContain('      payload:\n        state: [failed]');
  await page
    .getByRole('row', { name: /\$\.state/ })
    .getByText('used')
    .waitFor();
  await page.getByText('1 unsaved change', { exact: true }).waitFor();
  expect(await textOf(page.locator('.started-rows li').last())).toContain('nearly: $.state is "Failed"');
  await page.getByRole('button', { name: 'Write it' }).click();
  await page.getByText('Would have started 2 of the last 3').waitFor();
  expect(await readText(page)).toContain('        state: [failed, Failed]');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByText('Would have started 3 of the last 3').waitFor();
  expect(await readText(page)).not.toContain('payload');

  // Somebody else changes it meanwhile: the draft stays.
  const automation = { prompt: 'Look.', triggers: [triggerOn(webhook.uid)] };
  await goToEndOf(page, 'prompt: Look.');
  await page.keyboard.type(' Mine.');
  await api('PUT', '/automations/triage', { ...automation, prompt: 'Theirs.' });
  const dialog = page.locator('dialog');
  await review(page);
  await dialog.getByText('Someone else made a change in the meantime').waitFor();
  expect(await textOf(dialog.locator('.diff'))).toBe('- Theirs.\n+ Look. Mine.\n');
  await api('PUT', '/automations/triage', { ...automation, prompt: 'Theirs again.' });
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.getByRole('alert').getByText('Someone else made a change in the meantime').waitFor();
  expect(await api('GET', '/automations/triage')).toMatchObject({ prompt: 'Theirs again.' });
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(await readText(page)).toContain('prompt: Look. Mine.');
  await (await review(page)).getByRole('button', { name: 'Drop mine' }).click();
  await page.locator('.cm-line', { hasText: 'prompt: Theirs again.' }).waitFor();

  // A run of the draft has the payload of a stored delivery, edited.
  await goToEndOf(page, 'prompt: Theirs again.');
  await page.keyboard.type(' Closely.');
  await page.getByRole('button', { name: 'Run with…' }).click();
  const typed = page.getByLabel('Payload', { exact: true });
  await expect.poll(() => typed.inputValue()).toContain('"state": "passed"');
  await typed.fill('{"state": "edited"}');
  await page.getByRole('button', { name: 'Start the run' }).click();
  await page.getByText('Started a run of triage').waitFor();
  expect(await api('GET', `/runs/${(await listRuns(api))[0]?.id}`)).toMatchObject({
    ...{ automation: 'triage', prompt: 'Theirs again. Closely.', manual: true },
  });
  expect(await api('GET', '/automations/triage')).toMatchObject({ prompt: 'Theirs again.' });
  await page.getByRole('button', { name: 'Discard' }).click();

  // The review says what applying would change, and what that means for stored deliveries.
  await automate(api, 'review', webhook.uid, { state: ['failed'] }, { prompt: 'Look.\nThen act.' });
  await visit('/automations/review');
  await page.getByText('Would have started 1 of the last 3').waitFor();
  expect(await page.getByRole('button', { name: 'Review changes' }).isDisabled()).toBe(true);
  await editorOf(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(`prompt: |-
  Look.
  Then write.
  <b>
triggers:
  - provider: webhook
    event: received
    filter:
      webhook: deploys
      payload:
        state: [failed, Failed]
`);
  await page.keyboard.press('Control+Enter');
  await dialog.getByText('triggers[deploys].filter.payload.state').waitFor();
  expect(await dialog.locator('.diff').allTextContents()).toEqual([
    '  Look.\n- Then act.\n+ Then write.\n+ <b>\n',
    '- [failed]\n+ [failed, Failed]\n',
  ]);
  expect(await dialog.locator('.effects li').first().textContent()).toBe(
    'Of the last 3 deliveries, 2 would start a run (1 before); the outcome of 1 changes',
  );
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Keep editing' }).click();
  expect(await api('GET', '/automations/review')).toMatchObject({ prompt: 'Look.\nThen act.' });

  // A page with changes asks before it is left.
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
  const question = page.getByRole('dialog', { name: 'Leave without applying your changes?' });
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await expect.poll(() => page.url()).toMatch(/\/automations\/review$/);
  expect(await readText(page)).toContain('Then write.');
  await page.getByRole('link', { name: 'Deliveries', exact: true }).first().click();
  await question.getByRole('button', { name: 'Drop the changes' }).click();
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();

  // It is paused for a time, disabled, given another trigger, and deleted.
  const other = await createWebhook(api, 'alerts');
  const payload = { state: ['failed'], kind: { not_in: ['test'] } };
  await automate(api, 'kinds', webhook.uid, payload);
  await visit('/automations/kinds');
  const more = page.getByRole('button', { name: 'More actions' });
  await more.click();
  await page.getByRole('menuitem', { name: 'Pause…' }).click();
  await page.getByRole('button', { name: '8 hours' }).click();
  await page.getByRole('button', { name: 'Pause kinds' }).click();
  await page.getByText('Runs are recorded, but none starts.').waitFor();
  expect(await api('GET', '/pauses')).toMatchObject({ pauses: [{ automation: 'kinds' }] });
  await visit('/automations');
  const row = page.getByRole('row', { name: /kinds/ });
  await row.getByText('paused').waitFor();
  await visit('/automations/kinds');
  await more.click();
  await page.getByRole('menuitem', { name: 'Resume' }).click();
  await page.getByText('Resumed kinds').waitFor();
  expect(await api('GET', '/pauses')).toMatchObject({ pauses: [] });
  await more.click();
  await page.getByRole('menuitem', { name: 'Disable…' }).click();
  await page.getByRole('button', { name: 'Disable kinds' }).click();
  await page.locator('h1').getByText('Disabled').waitFor();
  await expect.poll(() => readText(page)).toMatch(/^enabled: false\n/);
  await page.keyboard.press('Control+End');
  await goToEndOf(page, '- test');
  await page.keyboard.press('Control+End');
  await page.keyboard.insertText(
    '  - provider: webhook\n    event: received\n    filter:\n      webhook: alerts\n',
  );
  await (await review(page)).getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Applied kinds').waitFor();
  expect(await api('GET', '/automations/kinds')).toMatchObject({
    enabled: false,
    prompt: 'Look.',
    triggers: [{ uid: webhook.uid, payload }, { uid: other.uid }],
  });
  await visit('/automations');
  expect(await textOf(row)).toContain('state failed, kind not test and 1 more');
  await row.getByText('disabled').waitFor();
  await row.getByRole('link').click();
  await more.click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  await page.getByRole('button', { name: 'Delete kinds' }).click();
  await page.getByRole('heading', { level: 1, name: 'Automations' }).waitFor();
  await row.waitFor({ state: 'detached' });
});

browserTest('says how runs are executed in sentences, whose slots edit the text; comments stay', async () => {
  const { page, api, daemon, visit } = await openDashboard();
  const { offeredRunners } = storeIn(homeAt(daemon.workspace.home));
  const configured = await offeredRunners.read();
  onTestFinished(() => offeredRunners.record('daemon', configured));
  const agents: OfferedRunner = {
    ...{ name: 'agents', kind: 'command', factories: ['*'], automations: ['*'], repositories: ['shop'] },
  };
  const others = { ...agents, name: 'secret', factories: ['elsewhere'] };
  await offeredRunners.record('daemon', [...configured, agents, others]);
  const webhook = await createWebhook(api, 'deploys');
  await deliver(webhook, { issue: { id: 7 } });
  await automate(api, 'triage', webhook.uid, undefined, {
    ...{ attempts: 3, backOff: { first: '30s', max: '5m' }, runsPerHour: 20 },
    ...{ concurrency: 2, concurrencyKey: '$.repository.full_name' },
  });
  await visit('/automations/triage');
  await editorOf(page).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.insertText('# What runs do.\n');

  await slotOf(page, 'Runner').click();
  const runner = page.getByRole('dialog', { name: 'Runner' });
  expect(await runner.getByRole('option').allTextContents()).toEqual(['agents']);
  await runner.getByRole('option', { name: 'agents' }).click();
  await slotOf(page, 'Repository').click();
  await page.getByRole('option', { name: 'shop' }).click();
  await slotOf(page, 'Order').click();
  const order = page.getByRole('dialog', { name: 'Order' });
  await order.getByRole('option', { name: /\$\.issue\.id/ }).waitFor();
  await order.getByRole('textbox').fill('issue.id');
  await page.keyboard.press('Enter');
  await order.getByText('did you mean $.issue.id?').waitFor();
  expect(await order.getByRole('textbox').getAttribute('aria-invalid')).toBe('true');
  expect(await violations(page)).toEqual([]);
  await order.getByRole('textbox').fill('$.issue.id');
  await page.keyboard.press('Enter');
  await slotOf(page, 'After a failure').click();
  await page.getByRole('option', { name: /^The others wait/ }).click();
  await setSlot(page, 'Artifacts', 'answer.md, report.md');
  await setSlot(page, 'Time limit', '10m');
  await setSlot(page, 'Quiet time', '30s');
  await setSlot(page, 'Burst of', '$.issue.id');
  await setSlot(page, 'Longest burst', '5m');
  // The text of an open menu counts as text of its sentence until the menu is removed.
  await expect
    .poll(() => page.locator('.sentence').allTextContents())
    .toEqual([
      'Each attempt may take 10 min. Try up to 3 times, first after 30 s, then twice as long each time, up to 5 min.',
      'Run 2 at a time for each $.repository.full_name. Keep the order of each $.issue.id. When one fails, the others wait until it succeeds or is dismissed. A newer run waits its turn.',
      'Start once no further delivery has come for 30 s with the same $.issue.id, at the latest after 5 min.',
      'Stop after 20 runs an hour. Tell the receivers of alerts how runs end.',
      'The runner agents executes each run with a working copy of shop. Each run must leave answer.md, report.md.',
    ]);
  expect(await readText(page)).toMatch(
    /^# What runs do\.\nprompt: Look\.\n[\s\S]*\ndebounce: \{ for: 30s, key: \$\.issue\.id, atMost: 5m \}\n/,
  );

  await goToEndOf(page, 'attempts: 3');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('4');
  await slotOf(page, 'Attempts').getByText('up to 4 times').waitFor();

  await offeredRunners.record('daemon', configured);
  const dialog = await review(page);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await dialog.getByText('the daemon offers no runner agents').waitFor();
  await offeredRunners.record('daemon', [...configured, agents]);
  await dialog.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('Applied triage').waitFor();
  expect(await readText(page)).toMatch(/^# What runs do\./);
  expect(await api('GET', '/automations/triage')).toMatchObject({
    ...{ runner: 'agents', repository: 'shop', requires: ['answer.md', 'report.md'], timeLimit: '10m' },
    ...{ attempts: 4, backOff: { first: '30s', max: '5m' }, order: '$.issue.id', onFailure: 'hold' },
    ...{ concurrency: 2, concurrencyKey: '$.repository.full_name', runsPerHour: 20 },
    debounce: { for: '30s', key: '$.issue.id', atMost: '5m' },
  });

  // A part that was removed from the sentence is removed from the file.
  const leaveOut = async (label: string) => {
    await slotOf(page, label).click();
    await page.getByRole('button', { name: 'Leave it out' }).click();
  };
  await leaveOut('Time limit');
  await leaveOut('Runs at a time');
  await page.getByText('concurrencyKey has no effect without concurrency').waitFor();
  expect(await page.getByRole('button', { name: 'Review changes' }).isDisabled()).toBe(true);
  await leaveOut('Limit for each');
  await page.getByText('valid', { exact: true }).waitFor();
  await (await review(page)).getByRole('button', { name: 'Apply' }).click();
  await dialog.waitFor({ state: 'detached' });
  const saved = await api<object>('GET', '/automations/triage');
  expect(saved).toMatchObject({
    attempts: 4,
    backOff: { first: '30s' },
    order: '$.issue.id',
    onFailure: 'hold',
  });
  for (const key of ['timeLimit', 'concurrency', 'concurrencyKey']) expect(saved).not.toHaveProperty(key);
});

browserTest('the list finds automations, and shows those that fail', async () => {
  const { page, api, visit } = await openDashboard();
  const deploys = await createWebhook(api, 'deploys');
  const alerts = await createWebhook(api, 'alerts');
  const silent = await createWebhook(api, 'silent');
  const create = (name: string, uid: string, keys = {}) => automate(api, name, uid, { n: [1] }, keys);
  await create('triage', deploys.uid, { attempts: 1, order: '$.issue.id', onFailure: 'hold' });
  await create('page', alerts.uid);
  await create('rest', alerts.uid, { enabled: false });
  await create('idle', silent.uid);
  await deliver(alerts, { n: 2 });
  await deliver(deploys, { n: 1, state: 'fail' });
  await expect.poll(() => api('GET', '/runs')).toMatchObject({ runs: [{ state: 'failed' }] });
  await visit('/automations');
  const names = page.locator('tbody .name');
  await names.first().waitFor();
  await expect.poll(async () => textOf(page.getByRole('button', { name: /^Failing/ }))).toBe('Failing 1');
  const triage = page.getByRole('row', { name: /triage/ });
  expect(await textOf(triage)).toContain('In order of issue, holds on failure, 1 attempt');
  expect(await textOf(triage)).toMatch(/failed just now11$/);
  expect(await textOf(page.getByRole('row', { name: /^page/ }))).toContain('never matches');
  expect(await page.getByText('never matches').count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: /^Failing/ }).click();
  expect(await names.allTextContents()).toEqual(['triage']);
  await page.getByRole('button', { name: /^Failing/ }).click();
  await page.getByRole('button', { name: /^Disabled 1/ }).click();
  expect(await names.allTextContents()).toEqual(['rest']);
  await page.getByRole('button', { name: /^Disabled 1/ }).click();
  await page.getByRole('button', { name: 'Webhook', exact: true }).click();
  await page.getByRole('option', { name: 'alerts' }).click();
  expect(await names.allTextContents()).toEqual(['page', 'rest']);
  await page.getByLabel('Find an automation').fill('pa');
  expect(await names.allTextContents()).toEqual(['page']);

  await api('DELETE', `/webhooks/${silent.uid}`);
  await page.reload();
  await page.getByText('deleted webhook').waitFor();
  await page.getByRole('link', { name: 'idle' }).click();
  await page.getByText(`There is no webhook ${silent.uid}: its trigger never fires.`).waitFor();
});
