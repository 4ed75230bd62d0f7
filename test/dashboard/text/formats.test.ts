import { expect, test } from 'vitest';
import { filterText } from '../../../dashboard/text/format-filter.ts';
import { humanSize } from '../../../dashboard/text/format-size.ts';
import { relativeTime } from '../../../dashboard/text/format-time.ts';

test.for([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KB'],
  [262_144, '256 KB'],
  [1_500_000, '1.4 MB'],
] as const)('%i bytes are %s', ([bytes, text]) => {
  expect(humanSize(bytes)).toBe(text);
});

test.for([
  [-2, 'just now'],
  [-59, 'just now'],
  [-60, '1 min. ago'],
  [-3_599, '59 min. ago'],
  [-3_600, '1 hr. ago'],
  [-172_800, '2 days ago'],
  [30, 'soon'],
  [120, 'in 2 min.'],
] as const)('%i seconds from now is %s', ([seconds, text]) => {
  expect(relativeTime(seconds * 1_000, 0)).toBe(text);
});

test('writes a filter as people do, and as JSON that says the same', () => {
  const filter = {
    action: ['opened', null],
    issue: { level: { not_in: [1, true] }, odd: {}, at: { exists: false } },
  };
  expect(filterText(filter)).toBe(`{
  "action": ["opened", null],
  "issue": {
    "level": { "not_in": [1, true] },
    "odd": {},
    "at": { "exists": false }
  }
}`);
  expect(JSON.parse(filterText(filter))).toEqual(filter);
});
