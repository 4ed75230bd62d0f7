import { expect, test } from 'vitest';
import {
  formatAge,
  formatHours,
  formatRelativeTime,
  formatTimeInput,
  parseTimeInput,
} from '../../../../dashboard/text/format-time.ts';
import { formatSize } from '../../../../dashboard/text/format-values.ts';
import { inFactory, sayChange } from '../../../../dashboard/text/sentences.ts';

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

test('an age is never in the future, although the clock of the daemon may be ahead', () => {
  expect([formatAge(30_000, 0), formatAge(120_000, 0), formatAge(-120_000, 0)]).toEqual([
    'just now',
    'just now',
    '2 min. ago',
  ]);
});

test('a field for a time gives back what it shows, in UTC and in local time', () => {
  const at = '2026-07-31T14:05:00.000Z';
  expect(formatTimeInput(at, 'utc')).toBe('2026-07-31T14:05');
  for (const zone of ['utc', 'local'] as const)
    expect(parseTimeInput(formatTimeInput(at, zone), zone)).toBe(at);
  expect(parseTimeInput('', 'utc')).toBe('');
});

test('a range of hours names its day once, or both of them', () => {
  const at = (time: string) => Date.parse(`2026-11-${time}:00Z`);
  expect(formatHours(at('22T14:00'), at('22T15:00'), 'utc')).toBe('Sun 22 Nov, 14:00–15:00');
  expect(formatHours(at('21T23:00'), at('22T05:00'), 'utc')).toMatch(
    /^Sat 21 Nov, 23:00.*Sun 22 Nov, 05:00$/,
  );
  expect(formatHours(at('22T14:00'), at('22T14:00'), 'utc')).toBe('Sun 22 Nov, 14:00');
});

test('a change is named as something that was done', () => {
  const said = [
    'createWebhook',
    'apply',
    'retryRun',
    'setSecret',
    'runAgain',
    'cancelRun',
    'beginSecretRotation',
  ];
  expect(said.map(sayChange)).toEqual([
    ...['Created webhook', 'Applied', 'Retried run', 'Set secret', 'Ran again', 'Cancelled run'],
    'Began secret rotation',
  ]);
});

test('a command acts on the factory of the page', () => {
  expect(inFactory('hookmill secrets set S', 'default')).toBe('hookmill secrets set S');
  expect(inFactory('hookmill secrets set S', 'shop')).toBe('hookmill --factory shop secrets set S');
  const named = 'hookmill --factory shop runs retry run_1';
  expect(inFactory(named, 'shop')).toBe(named);
});
