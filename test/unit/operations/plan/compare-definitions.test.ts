import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareDefinitions } from '../../../../operations/plan/compare-definitions.ts';

interface Trigger {
  readonly webhook: string;
  readonly payload?: object;
}

/** Compares the triggers of two automations. Here a trigger names its webhook itself. */
function compare(before: readonly Trigger[], after: readonly Trigger[]) {
  const nameElement = (element: unknown) => (element as Trigger).webhook;
  return compareDefinitions({ triggers: before }, { triggers: after }, [], nameElement).map(
    ({ field: _, ...change }) => change,
  );
}

const deploys = (payload?: object): Trigger => ({ webhook: 'deploys', ...(payload && { payload }) });
const errors = (payload?: object): Trigger => ({ webhook: 'errors', ...(payload && { payload }) });

test('a changed value is told by its path, with both sides', () => {
  expect(compare([deploys({ action: ['failed'] })], [deploys({ action: ['failed', 'error'] })])).toEqual([
    { path: 'triggers[deploys].payload.action', before: ['failed'], after: ['failed', 'error'] },
  ]);
});

test('added and removed keys are told at every depth, whatever they are called', () => {
  const before = JSON.parse('{"a": {"b": ["x"], "__proto__": ["y"]}}');
  const after = JSON.parse('{"a": {"b": ["x"], "odd name": {"constructor": ["z"]}}}');
  expect(compare([deploys(before)], [deploys(after)])).toEqual([
    { path: 'triggers[deploys].payload.a["odd name"]', after: { constructor: ['z'] } },
    { path: 'triggers[deploys].payload.a.__proto__', before: ['y'] },
  ]);
  expect(compare([deploys()], [deploys({ a: [1] })])).toEqual([
    { path: 'triggers[deploys].payload', after: { a: [1] } },
  ]);
});

test('a trigger is found again by its webhook, at whatever place it is', () => {
  const [before, after] = [
    [deploys({ a: [1] }), errors()],
    [errors(), deploys({ a: [2] })],
  ];
  expect(compare(before, after)).toEqual([
    { path: 'triggers[deploys].payload.a', before: [1], after: [2] },
    { path: 'triggers (order)', before: ['deploys', 'errors'], after: ['errors', 'deploys'] },
  ]);
});

test('of several triggers of a webhook, those that are most alike are compared', () => {
  const first = deploys({ state: ['failed'], env: ['prod'] });
  const second = deploys({ kind: ['test'] });
  const inserted = deploys({ other: ['x'], more: ['y'] });
  const changed = deploys({ state: ['failed'], env: ['prod', 'staging'] });
  expect(compare([first, second], [inserted, changed, second])).toEqual([
    { path: 'triggers[deploys #1]', after: inserted },
    { path: 'triggers[deploys #2].payload.env', before: ['prod'], after: ['prod', 'staging'] },
  ]);
  expect(compare([first, second], [second])).toEqual([{ path: 'triggers[deploys #2]', before: first }]);
});

test('a field that no code here knows is compared like any other', () => {
  const before = { name: 'a', keepHeaders: ['X-A'], extra: { deep: [{ n: 1 }, { n: 2 }] } };
  const after = { name: 'b', keepHeaders: ['X-A', 'X-B'], extra: { deep: [{ n: 1 }, { n: 3 }] } };
  expect(compareDefinitions(before, after, ['name'], () => undefined)).toEqual([
    { field: 'keepHeaders', path: 'keepHeaders', before: ['X-A'], after: ['X-A', 'X-B'] },
    { field: 'extra', path: 'extra.deep[1].n', before: 2, after: 3 },
  ]);
});

test('a new definition has a change for each of its fields', () => {
  expect(compareDefinitions(undefined, { name: 'a', x: { y: 1 }, z: [] }, ['name'], () => undefined)).toEqual(
    [
      { field: 'x', path: 'x', after: { y: 1 } },
      { field: 'z', path: 'z', after: [] },
    ],
  );
});

test('there are changes if and only if something differs', () => {
  const trigger = fc.record(
    {
      webhook: fc.constantFrom('a', 'b'),
      payload: fc.object({
        maxDepth: 2,
        key: fc.constantFrom('in', 'x', '__proto__', 'y'),
        values: [fc.boolean(), fc.integer(), fc.string(), fc.constant(null)],
      }),
    },
    // No parser creates objects without a prototype, which differ from all others.
    { noNullPrototype: true },
  );
  const triggers = fc.array(trigger, { maxLength: 4 });
  fc.assert(
    fc.property(triggers, triggers, (before, after) => {
      const copy = structuredClone(before);
      expect(compare(before, copy)).toEqual([]);
      const changes = compare(before, after);
      expect(changes.length === 0).toBe(isDeepStrictEqual(before, after));
      for (const change of changes) expect(change.before).not.toStrictEqual(change.after);
    }),
  );
});
