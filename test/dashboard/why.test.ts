import { expect } from 'vitest';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

browserTest('the page of a webhook says without a click why it did not fire', async () => {
  const { page, api, visit, keep } = await openDashboard();
  const webhook = await createWebhook(api, 'deploys');
  const card = page.locator('section[aria-labelledby=why]');
  /** Opens the page when the daemon knows the cause, and expects that the card shows it, with these words. */
  const expectCause = async (cause: string | null, words: RegExp) => {
    await expect.poll(() => api('GET', `/why/${webhook.uid}`)).toMatchObject({ cause });
    await visit('/webhooks');
    await visit(`/webhooks/${webhook.uid}`);
    // A change that leaves the same cause comes with the next look of the card.
    await expect.poll(() => textOf(card)).toMatch(words);
  };
  await expectCause('sender', /^Cause: no request has ever come/);
  await webhook.post({}, 'wrong');
  await expectCause(
    'authentication',
    /^Cause: [^\n]*rejected: wrong token[\s\S]*current value of the team secret/,
  );
  await webhook.post('{"n":');
  await expectCause('json', /^Cause: [^\n]*line 1, column 6/);
  await deliver(webhook, { state: 'Failed' });
  await expectCause('automations', /^Cause: no automation listens/);
  const triggers = [triggerOn(webhook.uid, { state: ['failed'] })];
  await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
  await expectCause('automations', /\$\.state in \["failed"\]: it is "Failed"[\s\S]*did you mean "Failed"/);
  await keep('webhook-why');
  await deliver(webhook, { state: 'failed' });
  await expectCause('runs', /^Cause: [^\n]*failed after one attempt[\s\S]*no luck[\s\S]*hookmill runs retry/);
});
