import { expect } from 'vitest';
import { type Api, addSettings, browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

// A payload with `wait` keeps its run working until it is cancelled; one with `fail` lets it fail twice.
addSettings({
  runs: {
    attempts: 2,
    backOff: { firstSeconds: 1, maxSeconds: 1 },
    runner: {
      kind: 'command',
      argv: [
        'sh',
        '-c',
        'echo "read the log"; grep -q wait event-payload.json && exec sleep 600; grep -q fail event-payload.json && { echo "no luck" >&2; exit 3; }; exit 0',
      ],
    },
  },
});

interface ListedRun {
  readonly id: string;
  readonly state: string;
}

async function listRuns(api: Api): Promise<readonly ListedRun[]> {
  return (await api<{ runs: readonly ListedRun[] }>('GET', '/runs')).runs;
}

async function startRun(api: Api, state: string, until: string): Promise<string> {
  const webhook = await createWebhook(api, 'deploys');
  const triggers = [triggerOn(webhook.uid)];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look at it.', triggers, attempts: 2 });
  await deliver(webhook, { action: state, service: 'checkout' });
  await expect.poll(async () => (await listRuns(api))[0]?.state).toBe(until);
  return (await listRuns(api))[0]?.id ?? '';
}

browserTest('a failed run is in the list with its cause, and its page has the way that it took', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const id = await startRun(api, 'fail', 'failed');
  await visit('/runs?state=failed');
  const row = page.locator('.row.r:not(.hd)');
  await row.waitFor();
  expect(await textOf(row)).toMatch(/triage.*fail · checkout.*2 of 2/);
  expect(await row.getByRole('img', { name: 'failed' }).count()).toBe(1);
  await keep('runs');
  await row.click();
  const path = page.getByRole('list', { name: 'What happened' });
  await path.getByText('Attempt 2 failed').waitFor();
  await path.getByText('Delivery received').waitFor();
  const told = await path.getByRole('listitem').allTextContents();
  expect(told[0]).toMatch(/^Delivery received from deploys/);
  const attempts = told.filter(text => text.startsWith('Attempt'));
  expect(attempts).toMatchObject(
    [/^Attempt 1 failed.*exited with status 3/, /^Attempt 2 failed.*exited with status 3/].map(text =>
      expect.stringMatching(text),
    ),
  );
  // Each attempt has its own output.
  await page.getByRole('button', { name: 'Attempt 1' }).click();
  expect(await textOf(page.locator('.output pre'))).toMatch(/attempt 1 at .*no luck/);
  await keep('run-failed');

  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('heading', { name: 'triage' }).getByText('Dismissed', { exact: true }).waitFor();
  expect(await api('GET', `/runs/${id}`)).toMatchObject({ state: 'failed', dismissed: true });
});

browserTest('a running run is cancelled, and done again with another prompt', async () => {
  const { page, api, visit } = await openDashboard();
  const id = await startRun(api, 'wait', 'running');
  await visit(`/runs/${id}`);
  await page.getByText('following').waitFor();
  await page.getByText('read the log').waitFor();
  await page.getByRole('button', { name: 'Cancel run' }).click();
  await page.getByRole('heading', { name: 'triage' }).getByText('Cancelled', { exact: true }).waitFor();
  expect(await api('GET', `/runs/${id}`)).toMatchObject({ state: 'cancelled' });

  await page.getByRole('button', { name: 'Run again…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Prompt').fill('Look twice.');
  await dialog.getByRole('button', { name: 'Start a run' }).click();
  await expect.poll(async () => (await listRuns(api)).length).toBe(2);
  const again = (await listRuns(api)).find(run => run.id !== id)?.id ?? '';
  await expect.poll(() => page.url()).toContain(again);
  // The address changes before the page does, which has such a link too.
  await page.getByText('Again of').waitFor();
  await page.getByRole('link', { name: 'Prompt' }).click();
  await page.getByText('Look twice.').waitFor();
  expect(await api('GET', `/runs/${again}`)).toMatchObject({ againOf: id, prompt: 'Look twice.' });
  await api('POST', `/runs/${again}/cancel`, {});
});

browserTest('retries the failed runs that the filters choose, after it has said how many', async () => {
  const { page, api, visit } = await openDashboard();
  const id = await startRun(api, 'fail', 'failed');
  await visit('/runs');
  await page.getByRole('button', { name: 'Retry failed…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Retry 1 failed run' }).click();
  await dialog.getByText('1 of 1 failed run queued again.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => api('GET', `/runs/${id}`)).toMatchObject({ state: 'failed', attempts: 2 });
  await page.getByRole('button', { name: 'Succeeded' }).click();
  await page.getByText('No runs match the filters').waitFor();
  expect(await page.getByRole('button', { name: 'Retry failed…' }).count()).toBe(0);
});

browserTest('who may only read sees a run, and nothing that changes it', async () => {
  const { page, api, visit } = await openDashboard({ isReader: true });
  const id = await startRun(api, 'fail', 'failed');
  await visit(`/runs/${id}`);
  await page.getByText('Attempt 2 failed').waitFor();
  for (const name of ['Retry', 'Dismiss', 'Run again…', 'Cancel run']) {
    expect(await page.getByRole('button', { name }).count(), name).toBe(0);
  }
});
