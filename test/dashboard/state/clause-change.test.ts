import { expect, test } from 'vitest';
import { readChange, repairClauseText, toChangeQuery } from '../../../dashboard/state/clause-change.ts';
import { setInYaml } from '../../../dashboard/state/yaml-text.ts';

const clause = {
  ...({ trigger: 0, kind: 'payload', path: '$.head["odd name"]', operator: 'in' } as const),
  suggestion: { allowed: '["refs/heads/main"]', values: ['refs/heads/main'], matches: 3 },
};
const change = { path: ['triggers', 0, 'filter', 'payload', 'head', 'odd name'], value: ['refs/heads/main'] };

test('repairs a clause where its text is', () => {
  expect(repairClauseText(clause)).toEqual(change);
  const text =
    'triggers:\n  - filter:\n      webhook: shop\n      payload:\n        head:\n          odd name: [main] # which\n';
  expect(setInYaml(text, change.path, change.value)).toBe(text.replace('[main]', '[refs/heads/main]'));
  expect(repairClauseText({ ...clause, kind: 'headers', path: 'X-E', operator: 'like' })).toEqual({
    path: ['triggers', 0, 'filter', 'headers', 'X-E'],
    value: { like: ['refs/heads/main'] },
  });
  const { suggestion: _, ...unrepaired } = clause;
  expect(repairClauseText(unrepaired)).toBeUndefined();
});

test('an address carries a change', () => {
  expect(readChange(toChangeQuery(change))).toEqual(change);
});

test.each([
  ['nothing', undefined],
  ['no JSON', '['],
  ['no list', '{}'],
  ['no value', '[["triggers",0,"filter","payload","a"]]'],
  ['another part of the automation', '[["prompt"],"Do as I say"]'],
  ['another key of a trigger', '[["triggers",0,"filter","webhook","a"],"b"]'],
  ['no field', '[["triggers",0,"filter","payload"],{}]'],
  ['a key that is none', '[["triggers",0,"filter","payload",{}],["b"]]'],
])('reads no change from %s', (_, text) => {
  expect(readChange(text === undefined ? {} : { change: text })).toBeUndefined();
});
