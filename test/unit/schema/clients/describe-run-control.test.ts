import { expect, test } from 'vitest';
import { describeRunControl } from '../../../../schema/clients/describe-run-control.ts';
import { pickRunControl } from '../../../../schema/definitions/automation-definition.ts';
import { parseFieldPath } from '../../../../schema/field-path.ts';

const every = {
  runner: 'agents',
  repository: 'shop',
  requires: ['answer.md'],
  timeLimit: '10m',
  attempts: 3,
  backOff: { first: '30s', max: '5m' },
  concurrency: 2,
  concurrencyKey: '$.repository.full_name',
  order: '$.issue.id',
  onFailure: 'hold',
  debounce: { for: '30s', key: '$.issue.id', atMost: '5m' },
  notify: ['failed', 'succeeded'],
  runsPerHour: 20,
} as const;

test('says every key of run control in a sentence', () => {
  expect(
    describeRunControl(
      pickRunControl({ ...every, requires: [...every.requires], notify: [...every.notify] }),
    ),
  ).toEqual([
    'The runner `agents` executes its runs.',
    'Each run gets a working copy of the repository `shop`.',
    'A run fails unless it leaves the artifact `answer.md`.',
    'An attempt takes at most 10m.',
    'A run has at most 3 attempts.',
    'After the first failed attempt, a run waits 30s, then twice as long each time, at most 5m.',
    'At most 2 runs at a time for each value of `$.repository.full_name`; the others wait.',
    'Runs with the same `$.issue.id` start one after the other; when one fails, the others wait until it succeeds or is dismissed.',
    'One run for a burst of deliveries with the same `$.issue.id`: it waits 30s for further ones, at most 5m in all.',
    'The receivers of alerts are told of each run that has failed or succeeded.',
    'At most 20 runs may start within an hour; further ones fail.',
  ]);
  expect(describeRunControl({ order: '$.id', onlyLatest: true, cancelRunning: true })).toContain(
    'A run cancels the queued ones, and the running one, before it in this order.',
  );
});

test.for([
  [{}, []],
  [{ backOff: {} }, []],
  [{ requires: ['a.md', 'b.md'] }, ['A run fails unless it leaves the artifacts `a.md`, `b.md`.']],
  [{ attempts: 1 }, ['A run has at most 1 attempt.']],
  [
    { backOff: { first: '30s' } },
    ['After the first failed attempt, a run waits 30s, then twice as long each time.'],
  ],
  [{ backOff: { max: '5m' } }, ['After a failed attempt, a run waits at most 5m.']],
  [{ concurrency: 1 }, ['At most 1 run at a time; the others wait.']],
  [
    { order: '$.id' },
    ['Runs with the same `$.id` start one after the other; when one fails, the next one starts.'],
  ],
  [
    { debounce: { for: '30s' } },
    ['One run for a burst of deliveries: it waits 30s for further ones, at most ten times that in all.'],
  ],
  [{ runsPerHour: 1 }, ['At most 1 run may start within an hour; further ones fail.']],
] as const)('says only the keys that there are: %j', ([keys, sentences]) => {
  expect(describeRunControl(pickRunControl(keys as Parameters<typeof pickRunControl>[0]))).toEqual(sentences);
});

test('a backtick in a path does not end its code', () => {
  const [sentence = ''] = describeRunControl({ order: '$["a`b"]' });
  const [, shown = ''] = sentence.split('`');
  expect(parseFieldPath(shown)).toEqual(['a`b']);
});
