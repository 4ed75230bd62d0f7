import { expect } from 'vitest';
import { type Api, addSettings, browserTest, openDashboard, textOf } from './browser.ts';
import { automate, createWebhook, deliver, listRuns, type SampleWebhook } from './samples.ts';

// A payload with `wait` keeps its run working until it is cancelled; one with `fail` lets it fail twice. Others wait for
// approval.
addSettings({
  runs: {
    attempts: 2,
    backOff: { firstSeconds: 1, maxSeconds: 1 },
    runner: {
      kind: 'command',
      argv: [
        'sh',
        '-c',
        'echo "read the log"; grep -q wait event-payload.json && exec sleep 600; grep -q fail event-payload.json && { echo "no luck" >&2; exit 3; }; mkdir artifacts; echo done > artifacts/note.md',
      ],
      afterwards: { argv: ['true'], approval: 'required' },
    },
  },
});

async function startRun(api: Api, webhook: SampleWebhook, state: string, until: string): Promise<string> {
  await deliver(webhook, { action: state, service: 'checkout' });
  await expect.poll(async () => (await listRuns(api))[0]?.state).toBe(until);
  return (await listRuns(api))[0]?.id ?? '';
}

browserTest('runs are shown, retried, dismissed, cancelled and done again', async () => {
  const { page, api, visit } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  await automate(api, 'triage', webhook.uid, undefined, { attempts: 2 });
  const id = await startRun(api, webhook, 'fail', 'failed');
  await visit('/runs?state=failed');
  const row = page.locator('.row.r:not(.hd)');
  await row.waitFor();
  expect(await textOf(row)).toMatch(/triage.*fail · checkout.*2 of 2/);
  expect(await row.getByRole('img', { name: 'failed' }).count()).toBe(1);
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

  await visit('/runs?state=failed');
  await page.getByRole('button', { name: 'Retry failed…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Retry 1 failed run' }).click();
  await dialog.getByText('1 of 1 failed run queued again.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => api('GET', `/runs/${id}`)).toMatchObject({ state: 'failed', attempts: 2 });
  await page.getByRole('button', { name: 'Succeeded' }).click();
  await page.getByText('No runs match the filters').waitFor();
  expect(await page.getByRole('button', { name: 'Retry failed…' }).count()).toBe(0);

  await visit(`/runs/${id}`);
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('heading', { name: 'triage' }).getByText('Dismissed', { exact: true }).waitFor();
  expect(await api('GET', `/runs/${id}`)).toMatchObject({ state: 'failed', dismissed: true });

  const waiting = await startRun(api, webhook, 'wait', 'running');
  await visit(`/runs/${waiting}`);
  await page.getByText('following').waitFor();
  await page.getByText('read the log').waitFor();
  await page.getByRole('button', { name: 'Cancel run' }).click();
  await page.getByRole('heading', { name: 'triage' }).getByText('Cancelled', { exact: true }).waitFor();
  expect(await api('GET', `/runs/${waiting}`)).toMatchObject({ state: 'cancelled' });

  await page.getByRole('button', { name: 'Run again…' }).click();
  await dialog.getByLabel('Prompt').fill('Look twice.');
  await dialog.getByRole('button', { name: 'Start a run' }).click();
  await expect.poll(async () => (await listRuns(api)).length).toBe(3);
  const again = (await listRuns(api)).find(run => ![id, waiting].includes(run.id))?.id ?? '';
  await expect.poll(() => page.url()).toContain(again);
  // The address changes before the page does, which has such a link too.
  await page.getByText('Again of').waitFor();
  await page.getByRole('link', { name: 'Prompt' }).click();
  await page.getByText('Look twice.').waitFor();
  expect(await api('GET', `/runs/${again}`)).toMatchObject({ againOf: waiting, prompt: 'Look twice.' });
  await api('POST', `/runs/${again}/cancel`, {});

  const proposed = await startRun(api, webhook, 'done', 'queued');
  await visit(`/runs/${proposed}`);
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('heading', { name: 'triage' }).getByText('Succeeded', { exact: true }).waitFor();
  expect(await api('GET', `/runs/${proposed}`)).toMatchObject({ afterwards: { approval: {} } });

  // A replay shows its run, also where all runs have ended.
  const { deliveryId } = await api<{ deliveryId: string }>('GET', `/runs/${proposed}`);
  await visit(`/deliveries/${deliveryId}`);
  const lines = page.locator('.run-line');
  await lines.getByText('succeeded').waitFor();
  await page.getByRole('button', { name: 'Replay…' }).click();
  await dialog.getByRole('button', { name: 'Start runs' }).click();
  await expect.poll(() => lines.count()).toBe(2);
});
