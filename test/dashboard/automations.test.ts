import { expect, onTestFinished } from 'vitest';
import { homeAt } from '../../store/home/home.ts';
import type { OfferedRunner } from '../../store/ports/offered-runners.ts';
import { storeIn } from '../support/stored.ts';
import { violations } from './axe.ts';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

browserTest('creates an automation, and tests its filter on stored deliveries while typing', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await deliver(webhook, { state: 'failed', service: { name: 'checkout' } });
  await visit('/automations');
  await page.getByRole('link', { name: 'Create automation' }).click();
  await page.getByLabel('Name', { exact: true }).fill('triage');
  await page.getByLabel('Prompt').fill('Find the commit that broke it.');
  await page.getByLabel('Webhook').selectOption('deploys');
  await page.getByText('Would trigger').waitFor();
  const filter = page.getByLabel('Payload filter');
  await filter.fill('state: [passed\nservice: {}');
  await page.getByText('Payload filter:1:8').waitFor();
  await filter.fill('state: passed');
  await page.getByText('state must be a list').waitFor();
  await filter.fill('state: [passed]\nservice:\n  name: { exists: true }');
  await page.getByText('Would not trigger').waitFor();
  expect(await page.locator('.clauses li').allTextContents()).toEqual([
    'fails$.state is one of ["passed"] · found "failed"',
    'passes$.service.name exists true · found "checkout"',
  ]);
  await filter.fill('{"state": ["failed"]}');
  await page.getByText('Would trigger').waitFor();
  await keep('automation-new');
  await page.getByRole('button', { name: 'Create automation' }).click();
  await page.getByRole('heading', { level: 1, name: 'triage' }).waitFor();
  await page.getByText('No runs yet').waitFor();
  await deliver(webhook, { state: 'failed', n: 2 });
  await deliver(webhook, { state: 'passed' });
  expect(await api('GET', '/runs')).toMatchObject({ runs: [{ automation: 'triage' }] });
});

browserTest('a new automation without a webhook to listen to leads to a new webhook', async () => {
  const { page, visit } = await openDashboard();
  await visit('/automations');
  await page.getByRole('link', { name: 'Create automation' }).click();
  await page.getByText('Create a webhook first').waitFor();
  await page.getByRole('link', { name: 'Create webhook' }).click();
  await page.getByRole('heading', { level: 1, name: 'New webhook' }).waitFor();
});

browserTest('reviews what saving would change, and what that means for stored deliveries', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  for (const state of ['failed', 'error', 'passed']) await deliver(webhook, { state });
  const triggers = [triggerOn(webhook.uid, { state: ['failed'] })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.\nThen act.', triggers });
  await visit('/automations/triage/edit');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByText('Nothing changes.').waitFor();
  await page.getByLabel('Payload filter').fill('{"state": ["failed", "error"]}');
  expect(await page.getByRole('region', { name: 'Changes' }).count()).toBe(0);
  await page.getByLabel('Prompt').fill('Look.\nThen write.\n<b>\u202e');
  await page.getByRole('button', { name: 'Review changes' }).click();
  await page.getByText('triggers[deploys].filter.payload.state').waitFor();
  expect(await page.locator('.diff').allTextContents()).toEqual([
    '  Look.\n- Then act.\n+ Then write.\n+ <b>\\u202e\n',
    '- [failed]\n+ [failed, error]\n',
  ]);
  expect(await page.locator('.effects li').first().textContent()).toBe(
    'Of the last 3 deliveries, 2 would start a run (1 before); the outcome of 1 changes',
  );
  await keep('automation-changes');
  expect(await api('GET', '/automations/triage')).toMatchObject({ prompt: 'Look.\nThen act.' });
});

browserTest('edits an automation: another trigger, disabled; and deletes it', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const other = await createWebhook(api, 'alerts');
  const triggers = [triggerOn(webhook.uid, { state: ['failed'], kind: { not_in: ['test'] } })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
  await visit('/automations/triage');
  await page.getByRole('button', { name: 'Edit' }).click();
  expect(await page.getByLabel('Payload filter').inputValue()).toBe(
    'state: [failed]\nkind: { not_in: [test] }',
  );
  await page.getByRole('switch', { name: 'Enabled' }).click();
  await page.getByRole('button', { name: 'Add a trigger' }).click();
  await page.getByLabel('Webhook').last().selectOption('alerts');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Every delivery to alerts starts a run.').waitFor();
  expect(await api('GET', '/automations/triage')).toMatchObject({
    enabled: false,
    prompt: 'Look.',
    triggers: [{ uid: webhook.uid, payload: triggers[0]?.filter.payload }, { uid: other.uid }],
  });
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete automation' }).click();
  await page.getByText('No automations yet').waitFor();
});

browserTest(
  'fills in how runs are executed as sentences, and shows what is refused at its field',
  async () => {
    const { page, api, daemon, keep, visit } = await openDashboard();
    const { offeredRunners } = storeIn(homeAt(daemon.workspace.home));
    const configured = await offeredRunners.read();
    onTestFinished(() => offeredRunners.record(configured));
    const agents: OfferedRunner = {
      ...{ name: 'agents', kind: 'command', factories: ['*'], automations: ['*'], repositories: ['shop'] },
    };
    const others = { ...agents, name: 'secret', factories: ['elsewhere'] };
    await offeredRunners.record([...configured, agents, others]);
    const { uid } = await createWebhook(api, 'deploys');
    const automation = { prompt: 'Look.', triggers: [triggerOn(uid)] };
    await api('POST', '/automations', { name: 'triage', ...automation });

    await visit('/automations/triage/edit');
    const runs = page.getByRole('region', { name: 'Runs' });
    const within = (sentence: string) => runs.getByRole('group', { name: sentence, exact: true });
    const runner = within('Runner').getByRole('combobox').first();
    const order = within('Order').getByRole('textbox');
    const save = page.getByRole('button', { name: 'Save' });
    await runs.getByRole('heading', { name: 'Runs' }).waitFor();
    expect(await runner.isVisible()).toBe(false);
    await runs.locator('summary').focus();
    await page.keyboard.press('Enter');
    await runner.getByText('agents').waitFor({ state: 'attached' });
    expect(await runner.locator('option').allTextContents()).toEqual(['default', 'agents']);
    await order.fill('issue.id');
    await within('Order').getByText('did you mean $.issue.id?').waitFor();
    expect(await order.getAttribute('aria-invalid')).toBe('true');
    expect(await save.isDisabled()).toBe(true);
    await order.fill('$.issue.id');
    await within('Order').getByRole('combobox').selectOption('hold');
    await runner.selectOption('agents');
    await within('Runner').getByLabel('with a working copy of').selectOption('shop');
    for (const [sentence, texts] of Object.entries({
      Artifacts: ['answer.md, report.md'],
      Attempts: ['10m', '3', '30s', '5m'],
      'Runs at a time': ['2', '$.repository.full_name'],
      Bursts: ['30s', '$.issue.id', '5m'],
      'Runs per hour': ['20'],
    }))
      for (const [index, text] of texts.entries())
        await within(sentence).getByRole('textbox').nth(index).fill(text);

    await offeredRunners.record(configured);
    await save.click();
    await within('Runner').getByText('the daemon offers no runner agents').waitFor();
    expect(await runner.getAttribute('aria-invalid')).toBe('true');
    expect(await order.getAttribute('aria-invalid')).toBe('false');
    expect(await violations(page)).toEqual([]);
    await keep('automation-runs');
    await offeredRunners.record([...configured, agents]);
    await save.click();
    await page.getByRole('heading', { name: 'How its runs are executed' }).waitFor();
    expect(await page.locator('.sentences li').allTextContents()).toEqual([
      'The runner agents executes its runs.',
      'Each run gets a working copy of the repository shop.',
      'A run fails unless it leaves the artifacts answer.md, report.md.',
      'An attempt takes at most 10m.',
      'A run has at most 3 attempts.',
      'After the first failed attempt, a run waits 30s, then twice as long each time, at most 5m.',
      'At most 2 runs at a time for each value of $.repository.full_name; the others wait.',
      'Runs with the same $.issue.id start one after the other; when one fails, the others wait until it succeeds or is dismissed.',
      'One run for a burst of deliveries with the same $.issue.id: it waits 30s for further ones, at most 5m in all.',
      'At most 20 runs may start within an hour; further ones fail.',
    ]);
  },
);

browserTest('edits how runs are executed: what is emptied is no key any more', async () => {
  const { page, api, visit } = await openDashboard();
  const { uid } = await createWebhook(api, 'deploys');
  const kept = { attempts: 3, backOff: { first: '30s' }, order: '$.issue.id', onFailure: 'continue' };
  const removed = { timeLimit: '10m', concurrency: 2, concurrencyKey: '$.id' };
  const automation = { name: 'triage', prompt: 'Look.', triggers: [triggerOn(uid)] };
  await api('POST', '/automations', { ...automation, ...kept, ...removed });
  await visit('/automations/triage/edit');
  await page.getByLabel('An attempt takes at most').fill('');
  const together = page.getByRole('group', { name: 'Runs at a time', exact: true });
  await together.getByLabel('At most').fill('');
  await page.getByRole('button', { name: 'Save' }).click();
  await together.getByText('concurrencyKey has no effect without concurrency').waitFor();
  await together.getByLabel('for each value of').fill('');
  expect(await together.locator('.mistake').count()).toBe(0);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'How its runs are executed' }).waitFor();
  const saved = await api<object>('GET', '/automations/triage');
  expect(saved).toMatchObject(kept);
  expect(Object.keys(saved).filter(key => key in removed)).toEqual([]);
});

browserTest(
  'says that someone else changed the automation in the meantime, and keeps the draft',
  async () => {
    const { page, api, visit } = await openDashboard();
    const { uid } = await createWebhook(api, 'deploys');
    const automation = { prompt: 'Look.', triggers: [triggerOn(uid)] };
    await api('POST', '/automations', { name: 'triage', ...automation });
    await visit('/automations/triage/edit');
    await page.getByLabel('Prompt').fill('Mine.');
    await api('PUT', '/automations/triage', { ...automation, prompt: 'Theirs.' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('Someone else made a change in the meantime').waitFor();
    expect(await page.getByLabel('Prompt').inputValue()).toBe('Mine.');
    expect(await api('GET', '/automations/triage')).toMatchObject({ prompt: 'Theirs.' });
  },
);

browserTest('shows the runs with their output, retries a failed one, and replays a delivery', async () => {
  const { page, api, keep, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers: [triggerOn(webhook.uid)] });
  const delivery = await deliver(webhook, { state: 'failed' });
  await visit('/automations/triage');
  const run = page.locator('.runs .row-summary').first();
  await run.getByText('failed', { exact: true }).waitFor();
  await run.click();
  await page.getByText('The last attempt failed: the command exited with status 3').waitFor();
  expect(await textOf(page.locator('.runs .stack > .block pre'))).toMatch(/read the log[\s\S]*no luck/);
  await keep('automation');
  await page.getByRole('button', { name: 'Retry', exact: true }).click();
  await page.getByText('The run is queued again').waitFor();
  await expect
    .poll(async () => textOf(page.locator('.runs .stack > .block pre')))
    .toMatch(/no luck[\s\S]*no luck/);

  await page.locator('.runs').getByRole('link', { name: delivery }).click();
  await page.getByRole('heading', { name: 'Started 1 run' }).waitFor();
  await page.getByText('triggered', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Replay…' }).click();
  await page.getByRole('button', { name: 'Start runs' }).click();
  await page.getByRole('heading', { name: 'Started 2 runs' }).waitFor();
  await page.getByText('triage (replay)').waitFor();
  await keep('delivery');
  await page.locator('.started').getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: /^run_/ }).waitFor();
});

browserTest(
  'a run has a page with its state, attempts, times, error, links, prompt, output and a retry',
  async () => {
    const { page, api, visit } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    await api('POST', '/automations', {
      name: 'triage',
      prompt: 'Look.',
      triggers: [triggerOn(webhook.uid)],
    });
    const delivery = await deliver(webhook, { state: 'failed' });
    const { runs } = await api<{ runs: readonly { readonly id: string }[] }>('GET', '/runs');
    const factOf = (term: string) =>
      page.locator('.facts > div').filter({ has: page.getByText(term, { exact: true }) });

    await visit(`/runs/${runs[0]?.id}`);
    await page.getByText('The last attempt failed: the command exited with status 3').waitFor();
    expect(await textOf(factOf('State'))).toBe('Statefailed after 1 attempt');
    for (const term of ['Created', 'Started', 'Finished']) await factOf(term).locator('time').waitFor();
    expect(await factOf('Next attempt due').count()).toBe(0);
    await factOf('Automation').getByRole('link', { name: 'triage' }).waitFor();
    await factOf('Delivery').getByRole('link', { name: delivery }).waitFor();
    await page.locator('pre').getByText('no luck').waitFor();
    const prompt = page.locator('details').filter({ hasText: 'Prompt' });
    expect(await prompt.locator('pre').isVisible()).toBe(false);
    await prompt.locator('summary').click();
    await prompt.locator('pre').getByText('Look.', { exact: true }).waitFor();

    // Holds the run where it waits for its next attempt.
    await page.route(/\/runs\/run_\w+$/, async route => {
      const response = await route.fetch();
      const waiting = { state: 'queued', attempts: 2, nextAttemptAt: '2030-01-02T03:04:05Z' };
      await route.fulfill({ response, json: { ...(await response.json()), ...waiting } });
    });
    await page.reload();
    await factOf('State').getByText('queued', { exact: true }).waitFor();
    expect(await textOf(factOf('State'))).toBe('Statequeued after 2 attempts');
    expect(await factOf('Next attempt due').locator('time').getAttribute('datetime')).toBe(
      '2030-01-02T03:04:05Z',
    );
    expect(await page.getByRole('button', { name: 'Retry', exact: true }).count()).toBe(0);
    await page.unrouteAll({ behavior: 'wait' });

    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('after 1 attempt (dismissed)').waitFor();
    expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Retry', exact: true }).click();
    await expect
      .poll(async () => textOf(page.locator('.stack > .block pre')))
      .toMatch(/no luck[\s\S]*no luck/);
  },
);

browserTest('leads from a delivery to the run that took it up, and from there to the others', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const automation = { prompt: 'Look.', triggers: [triggerOn(webhook.uid)], debounce: { for: '24h' } };
  await api('POST', '/automations', { name: 'triage', ...automation });
  const [first, second] = [await deliver(webhook, { n: 1 }), await deliver(webhook, { n: 2 })];
  await visit(`/deliveries/${first}`);
  await page.getByText('triage (one run for 2 deliveries)').waitFor();
  await page.getByRole('link', { name: /^run_/ }).click();
  await page.getByText('after 0 attempts (waits for more deliveries)').waitFor();
  await page.getByText('2 deliveries', { exact: true }).click();
  expect(await page.locator('dd ol a').allTextContents()).toEqual([first, second]);
});

browserTest('tests a filter against any stored delivery, or a pasted payload', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const failed = await deliver(webhook, { state: 'failed' });
  await deliver(webhook, { state: 'passed' });
  const triggers = [triggerOn(webhook.uid, { state: ['failed'] })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
  await visit('/automations/triage');
  await page.getByText('Would not trigger').waitFor();
  const against = page.getByLabel('Test filter against');
  await against.selectOption(failed);
  await page.getByText('Would trigger').waitFor();
  await page.getByText('Show payload', { exact: true }).click();
  await page.locator('.test pre').getByText('"state": "failed"').waitFor();
  await against.selectOption('A pasted payload');
  await page.getByLabel('Payload', { exact: true }).fill('{"state": ["passed", "canceled"]}');
  await page.getByText('Would not trigger').waitFor();
});
