import { expect, test } from 'vitest';
import { formatFilter } from '../../../dashboard/text/format-filter.ts';
import { formatSize } from '../../../dashboard/text/format-size.ts';
import { formatRelativeTime } from '../../../dashboard/text/format-time.ts';

test.for([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KB'],
  [262_144, '256 KB'],
  [1_500_000, '1.4 MB'],
] as const)('%i bytes are %s', ([bytes, text]) => {
  expect(formatSize(bytes)).toBe(text);
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
  expect(formatRelativeTime(seconds * 1_000, 0)).toBe(text);
});

test('formats a filter as people write it, and as equivalent JSON', () => {
  const filter = {
    action: ['opened', null],
    issue: { level: { not_in: [1, true] }, odd: {}, at: { exists: false } },
  };
  expect(formatFilter(filter)).toBe(`{
  "action": ["opened", null],
  "issue": {
    "level": { "not_in": [1, true] },
    "odd": {},
    "at": { "exists": false }
  }
}`);
  expect(JSON.parse(formatFilter(filter))).toEqual(filter);
});
