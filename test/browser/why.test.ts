import { expect } from 'vitest';
import { browserTest, openDashboard, textOf } from './browser.ts';
import { createWebhook, deliver, triggerOn } from './samples.ts';

browserTest(
  'the page of a webhook says without a click why it did not fire, and where the path breaks',
  async () => {
    const { page, api, visit, keep } = await openDashboard();
    const webhook = await createWebhook(api, 'deploys');
    const notice = page.getByRole('region', { name: 'Cause' });
    /** Opens the page when the daemon knows the cause, and expects that the notice shows it, with these words. */
    const expectCause = async (cause: string, words: RegExp) => {
      await expect.poll(() => api('GET', `/why/${webhook.uid}`)).toMatchObject({ cause });
      await visit('/webhooks');
      await visit(`/webhooks/${webhook.uid}`);
      // A change that leaves the same cause comes with the next look of the page.
      await expect.poll(() => textOf(notice)).toMatch(words);
      const broken = page.locator('.strip .no');
      expect((await textOf(broken)).toLowerCase()).toContain(cause);
    };
    await webhook.post({}, 'wrong');
    await expectCause(
      'authentication',
      /^Cause: [^\n]*rejected: wrong token[\s\S]*current value of the team secret/,
    );
    await webhook.post('{"n":');
    await expectCause('json', /^Cause: [^\n]*line 1, column 6/);
    await deliver(webhook, { state: 'Failed' });
    await expectCause('automations', /^Cause: no automation listens/);
    await notice.getByRole('link', { name: 'Write an automation' }).waitFor();
    const triggers = [triggerOn(webhook.uid, { state: ['failed'] })];
    await api('POST', '/automations', { name: 'triage', prompt: 'Look.', triggers });
    await expectCause('automations', /\$\.state in \["failed"\]: it is "Failed"[\s\S]*did you mean "Failed"/);
    await keep('webhook-why');
    await deliver(webhook, { state: 'failed' });
    await expectCause(
      'runs',
      /^Cause: [^\n]*failed after one attempt[\s\S]*no luck[\s\S]*hookmill runs retry/,
    );
    // Every step is in the set-up.
    await visit(`/webhooks/${webhook.uid}?tab=set-up`);
    const path = page.getByRole('list', { name: 'The last request, step by step' });
    await expect
      .poll(() => textOf(path))
      .toMatch(/JSON.*the last body was valid.*Runs.*failed after one attempt/s);
  },
);
