import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  type ClauseChange,
  readChange,
  toChangeQuery,
  toDefinitionEdit,
} from '../../../../dashboard/state/clause-change.ts';
import { setInYaml } from '../../../../dashboard/state/yaml-text.ts';

const change: ClauseChange = {
  trigger: 1,
  kind: 'payload',
  path: '$.head["odd name"]',
  operator: '$like',
  values: ['main', 1, null],
};

test('an address carries a change of a clause', () => {
  expect(readChange(toChangeQuery(change))).toEqual(change);
});

test.each([
  ['nothing', undefined],
  ['no JSON', '{'],
  ['no object', '[]'],
  ['a value that is none', JSON.stringify({ ...change, values: [{}] })],
  ['another kind', JSON.stringify({ ...change, kind: 'query' })],
  ['a trigger that is no index', JSON.stringify({ ...change, trigger: 0.5 })],
])('reads no change from %s', (_, text) => {
  expect(readChange(text === undefined ? {} : { change: text })).toBeUndefined();
});

test('writes the values in place of those of the clause, and leaves everything else', () => {
  const text = [
    'triggers:',
    '  - filter:',
    '      webhook: github',
    '  - filter:',
    '      webhook: github # ours',
    '      payload:',
    '        head:',
    '          odd name: { $like: [a] }',
    '          other: [x]',
    '      headers:',
    '        X-E: [p]',
    '',
  ].join('\n');
  const edit = (asked: ClauseChange) => {
    const { path, value } = toDefinitionEdit(asked) ?? { path: [], value: undefined };
    return setInYaml(text, path, value) ?? '';
  };
  const edited = edit(change);
  expect(parse(edited)).toEqual({
    triggers: [
      { filter: { webhook: 'github' } },
      {
        filter: {
          webhook: 'github',
          payload: { head: { 'odd name': { $like: ['main', 1, null] }, other: ['x'] } },
          headers: { 'X-E': ['p'] },
        },
      },
    ],
  });
  expect(edited).toContain('# ours');
  const header = edit({ ...change, kind: 'headers', path: 'X-E', operator: 'in', values: ['push'] });
  expect(parse(header).triggers[1].filter.headers).toEqual({ 'X-E': ['push'] });
  expect(toDefinitionEdit({ ...change, path: '$' })).toBeUndefined();
});

test('keeps the other operators of the clause', () => {
  const text = 'triggers:\n  - filter:\n      payload:\n        a: { in: [x], $not_like: ["z*"] } # why\n';
  for (const [operator, list] of [
    ['in', 'in: [y]'],
    ['$not_like', '$not_like: [y]'],
  ] as const) {
    const asked = { trigger: 0, kind: 'payload', path: '$.a', operator, values: ['y'] } as const;
    const { path, value } = toDefinitionEdit(asked) ?? { path: [], value: undefined };
    const edited = setInYaml(text, path, value) ?? '';
    expect(Object.keys(parse(edited).triggers[0].filter.payload.a)).toEqual(['in', '$not_like']);
    expect(edited).toContain(list);
    expect(edited).toContain('# why');
  }
});
