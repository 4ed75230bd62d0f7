import { expect, test } from 'vitest';
import {
  applyChange,
  type ClauseChange,
  readChange,
  toChangeQuery,
} from '../../../dashboard/state/clause-change.ts';

const change: ClauseChange = {
  trigger: 1,
  kind: 'payload',
  path: '$.head["odd name"]',
  operator: 'like',
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
  const triggers = [
    { payload: { head: { 'odd name': ['a'] } } },
    {
      payload: { head: { 'odd name': { like: ['a'] }, other: ['x'] }, ref: ['b'] },
      headers: { 'X-E': ['p'] },
    },
  ];
  expect(applyChange(triggers, change)).toEqual([
    triggers[0],
    {
      payload: { head: { 'odd name': { like: ['main', 1, null] }, other: ['x'] }, ref: ['b'] },
      headers: { 'X-E': ['p'] },
    },
  ]);
  const header: ClauseChange = { ...change, kind: 'headers', path: 'X-E', operator: 'in', values: ['push'] };
  expect(applyChange(triggers, header)[1]?.headers).toEqual({ 'X-E': ['push'] });
});

test('leaves triggers as they are that no longer have the clause', () => {
  const triggers = [{ payload: { ref: ['b'] } }, { payload: { ref: ['b'] } }];
  expect(applyChange(triggers, change)).toEqual(triggers);
});
