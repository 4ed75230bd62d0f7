import { expect, test } from 'vitest';
import { compileRunFlow } from '../../../../operations/impact/run-flow.ts';
import type { RunFlowKeys } from '../../../../schema/definitions/automation-definition.ts';

function flow(keys: RunFlowKeys, payload: unknown, name = 'triage', factory = 'default') {
  return compileRunFlow(factory, { name, ...keys })?.(payload);
}

test('an automation that says nothing of its flow has none', () => {
  expect(compileRunFlow('default', { name: 'triage' })).toBeUndefined();
});

test('each key is a part of the flow', () => {
  const keys: RunFlowKeys = {
    ...{ concurrency: 2, concurrencyKey: '$.repo', order: '$.id', onFailure: 'hold', runsPerHour: 20 },
    debounce: { for: '30s', key: '$.id', atMost: '2m' },
  };
  const lane = expect.stringMatching(/^[\w-]{22}$/);
  expect(flow(keys, { repo: 'a', id: 1 })).toEqual({
    limit: { lane, runs: 2 },
    order: { lane, hold: true },
    burst: { lane, forMs: 30_000, atMostMs: 120_000 },
    runsPerHour: 20,
  });
  expect(flow({ order: '$.id' }, {})).toEqual({ order: { lane, hold: false } });
  expect(flow({ order: '$.id', onlyLatest: true }, {})).toEqual({
    order: { lane, hold: false, latest: { cancelRunning: false } },
  });
  expect(flow({ debounce: { for: '30s' } }, {})?.burst).toMatchObject({ atMostMs: 300_000 });
});

const laneOf = (payload: unknown, keys: RunFlowKeys = { order: '$.id' }, ...of: [string?, string?]) => {
  const { limit, order, burst } = flow(keys, payload, ...of) ?? {};
  return (order ?? limit ?? burst)?.lane;
};

test('equal values share a lane; other values, kinds of lanes, automations and factories do not', () => {
  expect(laneOf({ id: 1, other: 2 })).toBe(laneOf({ id: 1.0 }));
  const keys: RunFlowKeys[] = [
    { concurrency: 1, concurrencyKey: '$.id' },
    { debounce: { for: '1s', key: '$.id' } },
  ];
  const lanes = [
    ...[1, 2, '1', true, null].map(id => laneOf({ id })),
    ...keys.map(key => laneOf({ id: 1 }, key)),
    ...[
      laneOf({ id: 1 }, { order: '$.id' }, 'other'),
      laneOf({ id: 1 }, { order: '$.id' }, 'triage', 'other'),
    ],
  ];
  expect(new Set(lanes).size).toBe(lanes.length);
});

test('a field that is missing, null, an object or a list is one lane, and so is a limit without a key', () => {
  const lanes = [{}, { id: null }, { id: { a: 1 } }, { id: [1] }, 'text', null, []].map(payload =>
    laneOf(payload),
  );
  expect(new Set(lanes).size).toBe(1);
  expect(laneOf({ id: 1 }, { concurrency: 1 })).toBe(laneOf({ id: 2 }, { concurrency: 1 }));
});

test('a value of any depth is read', () => {
  const deep = JSON.parse(`{"id":${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
  expect(laneOf(deep)).toBe(laneOf({}));
});
