import { expect, test } from 'vitest';
import { send } from '../../../../support/http.ts';
import { useManagedDaemon, withNewFactory } from '../../../../support/management.ts';

const shared = useManagedDaemon();

/** A factory with the webhook `deploys` and the automation `triage`, which names it. */
async function setUp() {
  const daemon = withNewFactory(shared());
  const { call } = await daemon.client();
  const create = async (name: string) => (await call('createWebhook', { body: { name } })).json;
  const { webhook, revealed } = await create('deploys');
  const show = async () => (await call('showAutomation', { params: { automation: 'triage' } })).json;
  const replace = (body: object) => call('replaceAutomation', { params: { automation: 'triage' }, body });
  const created = await call('createAutomation', { body: { name: 'triage', ...byName('deploys') } });
  expect(created.status).toBe(201);
  return { call, create, webhook, revealed, show, replace };
}

function byName(webhook: string) {
  const filter = { webhook, payload: { state: ['failed'] } };
  return { prompt: 'Look.', triggers: [{ provider: 'webhook', event: 'received', filter }] };
}

test('an automation names its webhook, and starts runs for its deliveries', async () => {
  const { call, webhook, revealed, show } = await setUp();
  expect(await show()).toMatchObject({
    triggers: [{ uid: webhook.uid, webhook: 'deploys', byName: 'deploys', payload: { state: ['failed'] } }],
    yaml: expect.stringContaining('webhook: deploys\n'),
  });
  const headers = { Authorization: `Bearer ${revealed.secret}` };
  const { deliveryId } = await send(webhook.url, { headers, body: '{"state":"failed"}' });
  expect((await call('listRuns')).json.runs).toMatchObject([{ automation: 'triage', deliveryId }]);
  const { triggers } = byName('deploys');
  const tested = await call('testFilter', { body: { triggers, delivery: deliveryId } });
  expect(tested.json).toMatchObject({ wouldTrigger: true });
  const draft = { name: 'draft', ...byName('deploys') };
  expect((await call('runByHand', { body: { draft, payload: '{}' } })).status).toBe(201);
});

test('an unknown name is refused with the one that was meant, when it is saved or planned', async () => {
  const { call, replace } = await setUp();
  const body = { name: 'other', ...byName('deploy') };
  for (const answer of [
    await call('createAutomation', { body }),
    await call('planAutomation', { body }),
    await replace(byName('deploy')),
  ]) {
    expect(answer.json).toMatchObject({
      code: 'request-invalid',
      mistakes: [
        {
          pointer: '/triggers/0/filter/webhook',
          code: 'automation/webhook-unknown',
          message: 'there is no webhook deploy',
          hint: 'did you mean deploys?',
        },
      ],
    });
  }
});

test('what is shown can be sent back and changes nothing, by name, by UID and of a deleted webhook', async () => {
  const { call, webhook, show, replace } = await setUp();
  const shown = await show();
  expect((await replace(shown)).json).toEqual(shown);
  const filter = { webhook_ids: [webhook.uid], payload: { state: ['failed'] } };
  const byUid = { prompt: 'Look.', triggers: [{ provider: 'webhook', event: 'received', filter }] };
  expect((await replace(byUid)).json).toEqual(shown);
  const changed = (await replace({ ...shown, prompt: 'Look again.' })).json;
  expect(changed).toMatchObject({ serial: shown.serial + 1, triggers: shown.triggers });
  await call('deleteWebhook', { params: { uid: webhook.uid } });
  const orphan = await show();
  expect(orphan.triggers).toMatchObject([{ uid: webhook.uid, webhook: null, byName: 'deploys' }]);
  expect((await replace(orphan)).json).toEqual(orphan);
});

test('a renamed webhook is shown by its new name; one that is made again is pinned when it is saved', async () => {
  const { call, create, webhook, show, replace } = await setUp();
  await call('changeWebhook', { params: { uid: webhook.uid }, body: { name: 'releases' } });
  expect(await show()).toMatchObject({
    triggers: [{ uid: webhook.uid, webhook: 'releases', byName: 'releases' }],
    yaml: expect.stringContaining('webhook: releases\n'),
  });
  await call('deleteWebhook', { params: { uid: webhook.uid } });
  const again = (await create('deploys')).webhook;
  expect((await show()).triggers).toMatchObject([{ uid: webhook.uid, webhook: null }]);
  const planned = await call('planAutomation', { body: { name: 'triage', ...byName('deploys') } });
  expect(planned.json.change.fields).toMatchObject([
    { before: `deploys (${webhook.uid})`, after: `deploys (${again.uid})` },
  ]);
  expect((await replace(byName('deploys'))).json.triggers).toMatchObject([
    { uid: again.uid, webhook: 'deploys' },
  ]);
});
