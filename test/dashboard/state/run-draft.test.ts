import { expect, test } from 'vitest';
import {
  findRunMistake,
  hasRunKeys,
  parseRunDraft,
  type RunPointer,
  toRunDraft,
} from '../../../dashboard/state/run-draft.ts';
import { runSentences } from '../../../dashboard/state/run-sentences.ts';

const empty = toRunDraft({});

test('the sentences have a field for each key, once', () => {
  const fields = runSentences.flatMap(({ blanks }) => blanks.map(({ at }) => at));
  expect(fields.sort()).toEqual(Object.keys(empty).sort());
});

test('an empty field is an absent key', () => {
  expect(hasRunKeys(empty)).toBe(false);
  expect(parseRunDraft({ ...empty, '/order': ' ', '/attempts': '' })).toEqual({});
});

test('reads numbers, times, paths, names and parts of keys', () => {
  const typed = { '/attempts': ' 3 ', '/requires': 'a.md,b.md', '/backOff/max': '5m', '/order': '$.id' };
  const draft = { ...empty, ...typed };
  expect(hasRunKeys(draft)).toBe(true);
  expect(parseRunDraft(draft)).toEqual({
    ...{ attempts: 3, requires: ['a.md', 'b.md'], backOff: { max: '5m' }, order: '$.id' },
  });
});

test.for<readonly [RunPointer, string, string]>([
  ['/timeLimit', '10', '"10" is not a time: write it as in 30s, 5m or 2h'],
  ['/debounce/for', '30 s', '"30 s" is not a time: write it as in 30s, 5m or 2h'],
  ['/attempts', '1.5', '"1.5" is not a number of runs or attempts: write digits, as in 3'],
  ['/runsPerHour', '0', '"0" is not a number of runs or attempts: write digits, as in 3'],
  ['/order', 'issue.id', '"issue.id" is not the path of a field: did you mean $.issue.id?'],
  ['/debounce/key', '$', '"$" is not the path of a field: write the path of one field, e.g. $.issue.id'],
])('%s: %s is a mistake, so nothing is sent', ([at, text, mistake]) => {
  expect(findRunMistake(at, text)).toBe(mistake);
  expect(parseRunDraft({ ...empty, [at]: text })).toBeUndefined();
});
