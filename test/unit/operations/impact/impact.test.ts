import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { History } from '../../../../operations/impact/history.ts';
import { findImpacts } from '../../../../operations/impact/impact.ts';
import { plan } from '../../../../operations/plan/plan.ts';
import { type AppliedState, type Credential, emptyAppliedState } from '../../../../schema/applied-state.ts';
import { describeImpact } from '../../../../schema/changes/describe-impact.ts';
import type { AutomationDefinition } from '../../../../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../../../../schema/definitions/webhook-definition.ts';
import type { PayloadFilter } from '../../../../schema/filters/clause.ts';
import { createUid } from '../../../../schema/ids.ts';

const uids = { pay: createUid(new Uint8Array(64).fill(1)), git: createUid(new Uint8Array(64).fill(2)) };

function webhook(name: keyof typeof uids, given: Partial<WebhookDefinition> = {}): WebhookDefinition {
  return { name, authMode: 'token', secretName: 'TOKEN', enabled: true, ...given };
}

function automation(payload?: PayloadFilter, given: Partial<AutomationDefinition> = {}, uid = uids.pay) {
  const trigger = { provider: 'webhook' as const, event: 'received' as const };
  const filter = { webhook_ids: [uid], ...(payload ? { payload } : {}) };
  return { name: 'triage', enabled: true, prompt: 'Look.', triggers: [{ ...trigger, filter }], ...given };
}

const secrets = new Map([['TOKEN', { name: 'TOKEN', value: { version: 'one', text: 'secret' } }]]);
const digest: Credential = { kind: 'digest', secretVersion: 'one', sha256: '0'.repeat(64) };

interface Desired {
  readonly webhooks: readonly WebhookDefinition[];
  readonly automations: readonly AutomationDefinition[];
}

/** The impact of each change that leads from one to the other, over deliveries numbered from the newest. */
async function impacts(
  before: Desired,
  after: Desired,
  payloads: readonly unknown[] = [],
  to = uids.pay,
  credential = digest,
  seconds: readonly number[] = payloads.map((_, index) => -index / 1000),
) {
  const applied: AppliedState = {
    ...emptyAppliedState('default'),
    webhooks: before.webhooks.map(definition => {
      const uid = uids[definition.name as keyof typeof uids];
      const { signatureScheme } = definition;
      const scheme = typeof signatureScheme === 'string' ? signatureScheme : undefined;
      return { ...definition, signatureScheme: scheme, uid, credential };
    }),
    automations: before.automations.map(one => ({ ...one, triggers: [...one.triggers] })),
  };
  const newestMs = 1_000_000;
  const deliveries = payloads.map((payload, index) => {
    const atMs = newestMs + (seconds[index] ?? 0) * 1000;
    const identity = `body-sha256:${hash('sha256', JSON.stringify(payload))}`;
    return {
      id: `dlv_${index}`,
      webhook: 'pay',
      uid: to,
      atMs,
      size: 100,
      identity,
      identitySource: 'body',
    } as const;
  });
  const history: History = {
    countQueued: async () => 0,
    countTraffic: async ({ uid }) =>
      uid === uids.pay
        ? { lastAcceptedAt: new Date(5_000).toISOString(), accepted: 312, days: 7 }
        : { lastAcceptedAt: null, accepted: 0, days: 7 },
    listLastAccepted: async ({ uid }, limit) => deliveries.filter(one => one.uid === uid).slice(0, limit),
    readPayload: async id => {
      const payload = payloads[Number(id.slice('dlv_'.length))];
      const toJson = () => JSON.stringify(payload);
      return { payload, toJson, body: Buffer.from(toJson()) };
    },
  };
  const changes = plan(after, applied, secrets, 0);
  const found = await findImpacts(changes, after, applied, history);
  return changes.map(change => found.get(change));
}

const levels = ['error', 'info', 'fatal', 'info', 'error'].map(level => ({ level }));
const pay = webhook('pay');

test('a narrower filter: how many runs there would have been, and which deliveries start none any more', async () => {
  const before = { webhooks: [pay], automations: [automation()] };
  const after = { webhooks: [pay], automations: [automation({ level: ['error'] })] };
  expect(await impacts(before, after, levels)).toEqual([
    undefined,
    {
      kind: 'automation',
      judged: 5,
      startedBefore: 5,
      startedAfter: 2,
      runs: { before: { runs: 5, stopped: 0 }, after: { runs: 2, stopped: 0 } },
      changed: 3,
      examples: [1, 2, 3].map(n => ({ deliveryId: `dlv_${n}`, webhook: 'pay', starts: false })),
    },
  ]);
});

test('a filter that trades deliveries for others shows both, though the numbers are the same', async () => {
  const before = { webhooks: [pay], automations: [automation({ level: ['error'] })] };
  const after = { webhooks: [pay], automations: [automation({ level: ['info'] })] };
  expect((await impacts(before, after, levels))[1]).toMatchObject({
    startedBefore: 2,
    startedAfter: 2,
    changed: 4,
    examples: [
      { deliveryId: 'dlv_0', starts: false },
      { deliveryId: 'dlv_1', starts: true },
      { deliveryId: 'dlv_3', starts: true },
      { deliveryId: 'dlv_4', starts: false },
    ],
  });
});

test('a new automation would have started from nothing, a removed one starts nothing any more', async () => {
  const without = { webhooks: [pay], automations: [] };
  const withOne = { webhooks: [pay], automations: [automation({ level: ['fatal'] })] };
  expect((await impacts(without, withOne, levels))[1]).toMatchObject({ startedBefore: 0, startedAfter: 1 });
  expect((await impacts(withOne, without, levels))[1]).toMatchObject({ startedBefore: 1, startedAfter: 0 });
});

test('a disabled automation starts nothing; a change of only the prompt has no impact', async () => {
  const before = { webhooks: [pay], automations: [automation()] };
  const off = { webhooks: [pay], automations: [automation(undefined, { enabled: false })] };
  const reworded = { webhooks: [pay], automations: [automation(undefined, { prompt: 'Look again.' })] };
  expect((await impacts(before, off, levels))[1]).toMatchObject({ startedBefore: 5, startedAfter: 0 });
  expect(await impacts(before, reworded, levels)).toEqual([undefined, undefined]);
});

test('a trigger that moves to another webhook is tested on the deliveries of both', async () => {
  const git = webhook('git');
  const before = { webhooks: [git, pay], automations: [automation()] };
  const after = { webhooks: [git, pay], automations: [automation(undefined, {}, uids.git)] };
  expect((await impacts(before, after, levels))[2]).toMatchObject({ startedBefore: 5, startedAfter: 0 });
  expect((await impacts(before, after, levels, uids.git))[2]).toMatchObject({
    startedBefore: 0,
    startedAfter: 5,
  });
});

test('names at most the five newest examples, and tests two hundred deliveries', async () => {
  const before = { webhooks: [pay], automations: [automation()] };
  const many = Array.from({ length: 300 }, () => ({ level: 'info' }));
  const impact = (await impacts(before, { webhooks: [pay], automations: [] }, many))[1];
  expect(impact).toMatchObject({ judged: 200, changed: 200 });
  expect(impact?.kind === 'automation' && impact.examples.map(({ deliveryId }) => deliveryId)).toEqual([
    'dlv_0',
    'dlv_1',
    'dlv_2',
    'dlv_3',
    'dlv_4',
  ]);
});

/** What a plan says of five deliveries at these seconds that an automation changes for, one way and the other. */
async function describeFlow(
  flow: Partial<AutomationDefinition>,
  seconds: readonly number[],
  keys: readonly unknown[],
) {
  const of = (given: object) => ({ webhooks: [pay], automations: [automation(undefined, given)] });
  const payloads = keys.map(key => ({ key }));
  const describe = async (was: object, is: object) => {
    const [, impact] = await impacts(of(was), of(is), payloads, uids.pay, digest, seconds);
    if (!impact) return undefined;
    const [first = '', ...more] = describeImpact(impact, 0);
    if (flow.debounce) expect(first).toContain('5 would start or join a run (5 before)');
    else expect(first).not.toContain('join');
    return more;
  };
  return [await describe({}, flow), await describe(flow, {})];
}

test.for<[string, Partial<AutomationDefinition>, readonly number[], readonly string[]]>([
  [
    'a burst shares a run',
    { debounce: { for: '10s' } },
    [0, 9, 18, 28, 30],
    ['2 runs instead of 5', '5 runs instead of 2'],
  ],
  [
    'a burst has an end',
    { debounce: { for: '10s', atMost: '15s' } },
    [0, 9, 14, 15, 16],
    ['2 runs instead of 5', '5 runs instead of 2'],
  ],
  [
    'each value has bursts of its own',
    { debounce: { for: '10s', key: '$.key' } },
    [0, 1, 2, 3, 4],
    ['2 runs instead of 5', '5 runs instead of 2'],
  ],
])('debounce: %s', async ([_, flow, seconds, expected]) => {
  const told = expected.map(text => [`${text} for the last 5 deliveries`]);
  expect(await describeFlow(flow, seconds, ['a', 'b', 'a', 'b', 'a'])).toEqual(told);
});

test('runsPerHour: how many runs it would have stopped, of those that debounce leaves', async () => {
  const seconds = [0, 60, 120, 3_599, 3_600];
  expect(await describeFlow({ runsPerHour: 2 }, seconds, [1, 2, 3, 4, 5])).toEqual([
    ['runsPerHour would have stopped 2 of 5 runs (0 of 5 before)'],
    ['runsPerHour would have stopped 0 of 5 runs (2 of 5 before)'],
  ]);
  expect(
    (await describeFlow({ runsPerHour: 2, debounce: { for: '3s' } }, seconds, [1, 2, 3, 4, 5]))[0],
  ).toEqual([
    '4 runs instead of 5 for the last 5 deliveries',
    'runsPerHour would have stopped 1 of 4 runs (0 of 5 before)',
  ]);
});

test('a limit or an order changes when runs start, not which', async () => {
  expect(await describeFlow({ concurrency: 1, order: '$.key' }, [0], [1])).toEqual([undefined, undefined]);
});

test('destroying a webhook: its traffic, and the automations that it no longer starts', async () => {
  const automations = [
    automation({ level: ['error'] }),
    automation(undefined, { name: 'off', enabled: false }),
  ];
  const [gone] = await impacts({ webhooks: [pay], automations }, { webhooks: [], automations });
  expect(gone).toEqual({
    kind: 'webhook',
    effects: ['url-gone'],
    traffic: { lastAcceptedAt: '1970-01-01T00:00:05.000Z', accepted: 312, days: 7 },
    silenced: ['triage'],
  });
});

test('an automation that changes as its webhook goes starts nothing after', async () => {
  const before = { webhooks: [pay], automations: [automation({ level: ['error'] })] };
  const after = { webhooks: [], automations: [automation()] };
  expect((await impacts(before, after, levels))[1]).toMatchObject({ startedBefore: 2, startedAfter: 0 });
});

test.each([
  ['another secret', { secretName: 'OTHER' }, ['credential-changed']],
  ['another mode', { authMode: 'url_token' }, ['url-changed', 'authentication-changed']],
  ['off', { enabled: false }, ['disabled']],
  ['another identity', { deliveryIdHeader: 'X-Id' }, ['identity-changed']],
] as const)('a webhook with %s has its effects on senders told', async (_, given, effects) => {
  const before = { webhooks: [pay], automations: [] };
  expect((await impacts(before, { webhooks: [webhook('pay', given)], automations: [] }))[0]).toMatchObject({
    effects,
  });
});

test.each([
  [{ deliveryIdField: '$.id' }, { judged: 5, changed: 4, duplicates: 2 }],
  [{ deliveryIdField: ['$.id', '$.n'] }, { judged: 5, changed: 3, duplicates: 0 }],
  [{ deliveryIdField: '$.none' }, { judged: 5, changed: 0, duplicates: 0 }],
  [{ identity: 'none' as const }, { judged: 5, changed: 5, duplicates: 0 }],
  [{ identity: { sameBody: '1m' } }, { judged: 5, changed: 0, duplicates: 0 }],
  // A header that was not kept of the deliveries
  [{ deliveryIdHeader: 'X-Id' }, undefined],
])(
  'a webhook with %j tells whose identity changes, and who would be a duplicate',
  async (keys, identities) => {
    const payloads = [{ id: 1, n: 1 }, { id: 1, n: 2 }, { id: 2, n: 1 }, { id: 1 }, { n: 5 }];
    const after = { webhooks: [webhook('pay', keys)], automations: [] };
    const [impact] = await impacts({ webhooks: [pay], automations: [] }, after, payloads);
    expect(impact).toMatchObject({ effects: ['identity-changed'] });
    expect(impact?.kind === 'webhook' && impact.identities).toEqual(identities);
  },
);

test('the identities that change are said in a sentence', async () => {
  const after = { webhooks: [webhook('pay', { deliveryIdField: '$.id' })], automations: [] };
  const payloads = [{ id: 1, n: 1 }, { id: 1, n: 2 }, { n: 3 }];
  const [impact] = await impacts({ webhooks: [pay], automations: [] }, after, payloads);
  expect(impact && describeImpact(impact, 0)).toContain(
    'the identity of 2 of the last 3 deliveries changes; 1 of them would have been a duplicate',
  );
});

test('neither a new webhook nor an unchanged one has an impact', async () => {
  expect(await impacts({ webhooks: [], automations: [] }, { webhooks: [pay], automations: [] })).toEqual([
    undefined,
  ]);
  expect(await impacts({ webhooks: [pay], automations: [] }, { webhooks: [pay], automations: [] })).toEqual([
    undefined,
  ]);
});

test('the first value of a declared secret takes nothing from its sender', async () => {
  const desired = { webhooks: [pay], automations: [] };
  expect(await impacts(desired, desired, [], uids.pay, { kind: 'unset' })).toEqual([undefined]);
});

test.each([
  [
    'another scheme, and the same secret',
    { signatureScheme: 'stripe' },
    { signatureScheme: 'paddle' },
    [
      'it expects signatures of the scheme paddle at once, and refuses signatures of the scheme stripe',
      "it is still checked with the team secret TOKEN: make sure that it has the new sender's secret",
    ],
  ],
  [
    'another scheme, and another secret',
    { signatureScheme: 'stripe' },
    { signatureScheme: 'paddle', secretName: 'OTHER' },
    [
      'it expects signatures of the scheme paddle at once, and refuses signatures of the scheme stripe',
      'it is checked with the team secret OTHER (TOKEN before)',
    ],
  ],
  [
    'another mode',
    { authMode: 'token', signatureScheme: undefined },
    { signatureScheme: 'stripe' },
    [
      'it expects signatures of the scheme stripe at once, and refuses a bearer token',
      "it is still checked with the team secret TOKEN: make sure that it has the new sender's secret",
    ],
  ],
] as const)(
  'a webhook with %s says what it expects, and what it is checked with',
  async (_, was, is, told) => {
    const of = (given: object) => ({
      webhooks: [webhook('pay', { authMode: 'signature', ...given })],
      automations: [],
    });
    const credential: Credential = { kind: 'sealed', secretVersion: 'one', jwe: '' };
    const [impact] = await impacts(of(was), of(is), [], uids.pay, credential);
    const sentences = impact ? describeImpact(impact, 0) : [];
    expect(sentences.slice(0, -1)).toEqual(told);
  },
);

test.each([
  [['a'], ['b'], 'The last delivery, dlv_0, would no longer start a run'],
  [['b'], ['a'], 'The last delivery, dlv_0, would now start a run'],
  [['a'], ['a', 'b'], 'The last delivery would start a run, as before'],
  [['b'], ['c'], 'The last delivery would start no run, as before'],
])('a filter from %j to %j says what the only delivery would start', async (was, is, told) => {
  const of = (level: readonly string[]) => ({ webhooks: [pay], automations: [automation({ level })] });
  const [, impact] = await impacts(of(was), of(is), [{ level: 'a' }]);
  expect(impact && describeImpact(impact, 0)).toEqual([told]);
});

test('many large deliveries are judged up to a bound, the newest of each webhook', async () => {
  const both = { webhooks: [webhook('git'), pay], automations: [automation(undefined, { name: 'a' })] };
  const applied: AppliedState = {
    ...emptyAppliedState('default'),
    webhooks: both.webhooks.map(one => {
      const uid = uids[one.name as keyof typeof uids];
      return { ...one, signatureScheme: undefined, uid, credential: digest };
    }),
  };
  const automations = [automation(undefined, { name: 'a' }), automation(undefined, { name: 'b' }, uids.git)];
  const read: string[] = [];
  const history: History = {
    countQueued: async () => 0,
    countTraffic: async () => ({ lastAcceptedAt: null, accepted: 0, days: 7 }),
    listLastAccepted: async ({ uid, name }, limit) =>
      Array.from({ length: limit }, (_, index) => {
        return { id: `${name}-${index}`, webhook: name, uid, atMs: -index, size: 1024 * 1024 };
      }),
    readPayload: async id => {
      read.push(id);
      return { payload: {}, toJson: () => '{}', body: Buffer.from('{}') };
    },
  };
  const desired = { ...both, automations };
  const changes = plan(desired, applied, secrets, 0);
  const found = await findImpacts(changes, desired, applied, history);
  expect([...found.values()]).toMatchObject([{ judged: 32 }, { judged: 32 }]);
  expect(read.sort()).toEqual(
    ['git', 'pay'].flatMap(name => Array.from({ length: 32 }, (_, index) => `${name}-${index}`)).sort(),
  );
});
