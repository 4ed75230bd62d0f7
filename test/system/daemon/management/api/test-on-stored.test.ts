import { expect, test } from 'vitest';
import { send } from '../../../../support/http.ts';
import { useManagedDaemon, withNewFactory } from '../../../../support/management.ts';

const shared = useManagedDaemon({ limits: { deliveriesPerMinute: 1_000 } });

/** A new factory with the webhooks `deploys` and `pushes`, which keep the header X-Kind. */
async function ready() {
  const daemon = withNewFactory(shared());
  const manager = await daemon.client();
  const webhook = async (name: string) => {
    const { json } = await manager.call('createWebhook', { body: { name, keepHeaders: ['X-Kind'] } });
    const headers = { Authorization: `Bearer ${json.revealed.secret}` };
    const deliver = async (payload: unknown, kind = 'push') => {
      daemon.clock.nowMs += 1;
      const sent = { ...headers, 'X-Kind': kind };
      return (
        (await send(json.webhook.url, { headers: sent, body: JSON.stringify(payload) })).deliveryId ?? ''
      );
    };
    return { uid: json.webhook.uid as string, deliver };
  };
  const deploys = await webhook('deploys');
  const pushes = await webhook('pushes');
  const test = async (body: object) => (await manager.call('testOnStored', { body })).json;
  return { daemon, manager, deploys, pushes, test };
}

const on = (uid: string, filter: object = {}) => ({
  provider: 'webhook',
  event: 'received',
  filter: { webhook_ids: [uid], ...filter },
});

const verdicts = (tested: { deliveries: { id: string; verdict: string }[] }) =>
  tested.deliveries.map(({ id, verdict }) => [id, verdict]);

test('tells of the newest deliveries of all triggers which match, which nearly, and what repairs that', async () => {
  const { deploys, pushes, test } = await ready();
  const first = await deploys.deliver({ state: 'failed', ref: 'main' });
  const second = await pushes.deliver({ ref: 'refs/heads/main', by: 'ann' });
  const third = await pushes.deliver({ ref: 'refs/heads/main', by: 'bob' });
  const fourth = await pushes.deliver({ ref: 'refs/heads/main', by: 'cat' }, 'tag');
  const fifth = await deploys.deliver({ state: 'Failed' });
  const triggers = [
    on(deploys.uid, { payload: { state: ['failed'] } }),
    on(pushes.uid, { payload: { ref: ['main'] }, headers: { 'X-Kind': ['push'] } }),
  ];
  const tested = await test({ triggers });
  expect(verdicts(tested)).toEqual([
    [fifth, 'near'],
    [fourth, 'no'],
    [third, 'near'],
    [second, 'near'],
    [first, 'match'],
  ]);
  expect(tested).toMatchObject({ matches: 1, since: tested.deliveries[4].at, warnings: expect.any(Array) });
  expect(tested.deliveries[2]).toMatchObject({
    ...{ webhook: 'pushes', title: 'Delivery', text: 'refs/heads/main · bob' },
    near: {
      ...{ path: '$.ref', operator: 'in', allowed: '["main"]', found: '"refs/heads/main"' },
      suggestion: { allowed: '["refs/heads/main"]', values: ['refs/heads/main'] },
    },
  });
  expect(tested.clauses).toEqual([
    {
      ...{ trigger: 0, kind: 'payload', path: '$.state', operator: 'in', allowed: '["failed"]' },
      ...{ holds: 1, judged: 2, found: ['"Failed"'] },
      // `failed` was sent too, so it stays.
      suggestion: { allowed: '["failed", "Failed"]', values: ['failed', 'Failed'], matches: 2 },
    },
    {
      ...{ trigger: 1, kind: 'headers', path: 'X-Kind', operator: 'in', allowed: '["push"]' },
      ...{ holds: 2, judged: 3, found: ['"tag"'] },
    },
    {
      ...{ trigger: 1, kind: 'payload', path: '$.ref', operator: 'in', allowed: '["main"]' },
      ...{ holds: 0, judged: 3, found: ['"refs/heads/main"'] },
      suggestion: { allowed: '["refs/heads/main"]', values: ['refs/heads/main'], matches: 3 },
    },
  ]);
  expect(tested).not.toHaveProperty('startedNothing');
  // What a suggestion promises is what the repaired filter does.
  const repaired = on(pushes.uid, { payload: { ref: ['refs/heads/main'] }, headers: { 'X-Kind': ['push'] } });
  expect(await test({ triggers: [triggers[0], repaired] })).toMatchObject({ matches: 3 });
  expect(verdicts(await test({ triggers, last: 2 }))).toEqual([
    [fifth, 'near'],
    [fourth, 'no'],
  ]);
});

test('tests an applied automation or a draft, also a disabled one, on one webhook, and counts what starts nothing', async () => {
  const { manager, deploys, pushes, test } = await ready();
  const draft = {
    name: 'triage',
    prompt: 'Look.',
    enabled: false,
    triggers: [on(deploys.uid, { payload: { n: [1] } })],
  };
  await manager.call('createAutomation', { body: draft });
  const other = {
    ...draft,
    name: 'other',
    enabled: true,
    triggers: [on(deploys.uid, { payload: { n: [2] } })],
  };
  await manager.call('createAutomation', { body: other });
  for (const n of [1, 2, 3]) await deploys.deliver({ n });
  await pushes.deliver({ n: 1 });
  const { uid: webhook } = deploys;
  expect(await test({ automation: 'triage', webhook })).toMatchObject({ matches: 1, startedNothing: 2 });
  expect(await test({ draft: { ...draft, name: 'new' }, webhook })).toMatchObject({ matches: 1 });
  // No trigger listens to this one.
  const unheard = await test({ automation: 'triage', webhook: 'pushes' });
  expect(unheard).toMatchObject({ matches: 0, startedNothing: 1, deliveries: [{ verdict: 'no' }] });
  expect(unheard.clauses).toMatchObject([{ path: '$.n', judged: 0, holds: 0, found: [] }]);
});

test('takes a delivery that fails two clauses for no near miss', async () => {
  const { deploys, test } = await ready();
  await deploys.deliver({ n: '1', state: 'passed' });
  const tested = await test({ triggers: [on(deploys.uid, { payload: { n: [1], state: ['failed'] } })] });
  expect(tested).toMatchObject({ deliveries: [{ verdict: 'no' }], matches: 0 });
  expect(tested.deliveries[0]).not.toHaveProperty('near');
});

test('shows no value that looks like a credential, and suggests none', async () => {
  const { deploys, test } = await ready();
  const secret = 'ghp_abcdefghij0123456789/x';
  await deploys.deliver({ note: secret, token: 'Abc', ref: 'ghp_A/main' });
  const tested = await test({
    triggers: [
      on(deploys.uid, { payload: { token: ['abc'] } }),
      on(deploys.uid, { payload: { ref: ['main'] } }),
      on(deploys.uid, { payload: { note: { $like: ['x'] } } }),
    ],
  });
  expect(tested.deliveries).toMatchObject([{ verdict: 'near', near: { path: '$.token', found: null } }]);
  expect(tested.deliveries[0].near).not.toHaveProperty('suggestion');
  expect(tested.clauses.map(({ found }: { found: string[] }) => found)).toEqual([[], [], []]);
  expect(JSON.stringify(tested)).not.toMatch(/ghp_|Abc/);
});

test('reads at most 8 MiB of payloads, the newest', async () => {
  const { deploys, test } = await ready();
  const filler = 'x'.repeat(250_000);
  for (let n = 0; n < 40; n++) await deploys.deliver({ n, filler });
  const tested = await test({ triggers: [on(deploys.uid, { payload: { n: [39, 1] } })] });
  expect(tested).toMatchObject({ matches: 1, deliveries: { length: 33 } });
});

test('answers a webhook without deliveries, and refuses an unknown one and a request for two things', async () => {
  const { daemon, deploys, test } = await ready();
  const triggers = [on(deploys.uid, { payload: { n: [1] } })];
  expect(await test({ triggers })).toEqual({
    ...{ deliveries: [], matches: 0, since: null, warnings: [] },
    clauses: [expect.objectContaining({ path: '$.n', judged: 0 })],
  });
  expect(await test({ triggers, webhook: `wh_${'0'.repeat(24)}` })).toMatchObject({
    code: 'webhook-unknown',
  });
  expect(await test({ automation: 'none' })).toMatchObject({ code: 'automation-unknown' });
  expect(await test({ triggers, automation: 'x' })).toMatchObject({
    code: 'request-invalid',
    mistakes: [{ message: 'give exactly one of automation, triggers and draft' }],
  });
  expect(await test({ triggers, last: 201 })).toMatchObject({ code: 'request-invalid' });
  const reader = await daemon.client({ permission: 'read' });
  expect(await reader.call('testOnStored', { body: { triggers } })).toMatchObject({ status: 200 });
});
