import { expect, test } from 'vitest';
import {
  findRunMistake,
  parseRunText,
  pathOfRunKey,
  type RunPointer,
  toRunDraft,
} from '../../../../dashboard/state/run-draft.ts';
import { runSentences } from '../../../../dashboard/state/run-sentences.ts';
import { runControlFields } from '../../../../schema/definitions/automation-definition.ts';

const empty = toRunDraft({});

test('the sentences have a slot for each key that controls runs, once', () => {
  const slots = runSentences.flat().map(({ at }) => at);
  expect(slots.toSorted()).toEqual(Object.keys(empty).sort());
  const keys = slots.map(at => at.split('/')[1]);
  expect([...new Set(keys)].sort()).toEqual(Object.keys(runControlFields).sort());
});

test('an absent key is an empty text, and so is what has no text', () => {
  expect(Object.values(empty).join('')).toBe('');
  expect(toRunDraft({ order: { a: 1 }, backOff: 3, attempts: null })).toEqual(empty);
  expect(toRunDraft(null)).toEqual(empty);
});

test('reads keys, parts of keys, and lists', () => {
  const keys = {
    attempts: 3,
    backOff: { max: '5m' },
    requires: ['a.md', 'b.md'],
    notify: ['succeeded', 'failed'],
  };
  expect(toRunDraft(keys)).toEqual({
    ...empty,
    ...{ '/attempts': '3', '/backOff/max': '5m', '/requires': 'a.md, b.md', '/notify': 'failed, succeeded' },
  });
});

test.for<[RunPointer, string, unknown]>([
  ['/attempts', ' 3 ', 3],
  ['/requires', 'a.md,b.md', ['a.md', 'b.md']],
  ['/backOff/max', '5m', '5m'],
  ['/order', '$.id', '$.id'],
  ['/onlyLatest', 'true', true],
])('%s: %s is a value of the definition', ([at, text, value]) => {
  expect(findRunMistake(at, text)).toBeUndefined();
  expect(parseRunText(at, text)).toEqual(value);
});

test('a pointer is the path of its key', () => {
  expect(pathOfRunKey('/debounce/atMost')).toEqual(['debounce', 'atMost']);
});

test.for<readonly [RunPointer, string, string]>([
  ['/timeLimit', '10', '"10" is not a time: write it as in 30s, 5m or 2h'],
  ['/debounce/for', '30 s', '"30 s" is not a time: write it as in 30s, 5m or 2h'],
  ['/attempts', '1.5', '"1.5" is not a number of runs or attempts: write digits, as in 3'],
  ['/runsPerHour', '0', '"0" is not a number of runs or attempts: write digits, as in 3'],
  ['/order', 'issue.id', '"issue.id" is not the path of a field: did you mean $.issue.id?'],
  ['/debounce/key', '$', '"$" is not the path of a field: write the path of one field, e.g. $.issue.id'],
])('%s: %s is a mistake', ([at, text, mistake]) => {
  expect(findRunMistake(at, text)).toBe(mistake);
});
