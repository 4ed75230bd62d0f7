import { expect } from 'vitest';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

browserTest('the page of a webhook says without a click why it did not fire', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const card = page.locator('section[aria-labelledby=why]');
  /** Opens the page when the daemon knows the cause, and reads the card. */
  const read = async (cause: string | null) => {
    await expect.poll(() => api('GET', `/why/${webhook.uid}`)).toMatchObject({ cause });
    await visit('/webhooks');
    await visit(`/webhooks/${webhook.uid}`);
    return textOf(card);
  };
  expect(await read('sender')).toMatch(/^Look at: Sender[\s\S]*no request has ever come/);
  await webhook.post({}, 'wrong');
  expect(await read('authentication')).toMatch(
    /^Look at: Authentication[\s\S]*rejected: wrong token[\s\S]*current secret/,
  );
  await webhook.post('{"n":');
  expect(await read('json')).toMatch(/^Look at: JSON[\s\S]*line 1, column 6/);
  await deliver(webhook, { state: 'Failed' });
  expect(await read('automations')).toMatch(/^Look at: Automations[\s\S]*no automation listens/);
  const triggers = [triggerOn(webhook.uid, { state: ['failed'] })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
  expect(await read('automations')).toMatch(
    /\$\.state in \["failed"\]: it is "Failed"[\s\S]*did you mean "Failed"/,
  );
  await keep('webhook-why');
  await deliver(webhook, { state: 'failed' });
  expect(await read('runs')).toMatch(
    /^Look at: Runs[\s\S]*failed after one attempt[\s\S]*no luck[\s\S]*hookmill runs retry/,
  );
});
