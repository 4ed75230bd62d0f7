import { expect, test } from 'vitest';
import { describeFilters, describeRuns } from '../../../../dashboard/text/describe-automation.ts';

test.for<[string, object | undefined, object | undefined]>([
  ['', undefined, undefined],
  [
    'pull_request opened, synchronize',
    { action: ['opened', 'synchronize'] },
    { 'X-GitHub-Event': ['pull_request'] },
  ],
  [
    'action failed, environment production',
    { action: ['failed'], deploy: { environment: ['production'] } },
    undefined,
  ],
  ['charge.refunded', { type: ['charge.refunded'] }, undefined],
  [
    'ref like refs/tags/*, base not main',
    { ref: { $like: ['refs/tags/*'] }, base: { not_in: ['main'] } },
    undefined,
  ],
  [
    'has issue, without bot, size at least 5',
    { issue: { exists: true }, bot: { exists: false }, size: { $compare: { at_least: 5 } } },
    undefined,
  ],
  [
    'ref like release/*, ref not like release/old-*, object issue, no labels with name wip',
    {
      ref: { $like: ['release/*'], $not_like: ['release/old-*'] },
      issue: {},
      labels: { $none: { name: ['wip'] } },
    },
    undefined,
  ],
])('says %j', ([words, payload, headers]) => {
  expect(describeFilters({ payload, headers })).toBe(words);
});

test.for<[string, Parameters<typeof describeRuns>[0]]>([
  ['', { runner: 'agents' }],
  ['In order of issue, only the latest', { order: '$.issue.id', onlyLatest: true }],
  ['In order of issue, holds on failure', { order: '$.issue.id', onFailure: 'hold' }],
  ['One at a time per service, 3 attempts', { concurrency: 1, concurrencyKey: '$.service', attempts: 3 }],
  ['2 at a time, 10 min an attempt', { concurrency: 2, timeLimit: '10m' }],
  [
    'After 30 s of silence per incident, at most 20 an hour',
    { debounce: { for: '30s', key: '$.incident.id' }, runsPerHour: 20 },
  ],
])('says %j', ([words, keys]) => {
  expect(describeRuns(keys)).toBe(words);
});
