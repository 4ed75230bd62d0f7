import { expect, test } from 'vitest';
import type { ShownRun } from '../../../../dashboard/api-answers.ts';
import {
  describeResult,
  lengthOfRun,
  listStretches,
  placeStretch,
  splitOutput,
} from '../../../../dashboard/text/run-path.ts';

const failed: ShownRun = {
  ...{ id: 'run_1', automation: 'triage', runner: 'default', deliveryId: 'dlv_1', webhook: 'github' },
  ...{ state: 'failed', attempts: 2, replay: false, nextAttemptAt: null, error: 'boom: no api\nstatus 7' },
  createdAt: '2026-11-23T12:00:00.000Z',
  startedAt: '2026-11-23T12:00:40.000Z',
  finishedAt: '2026-11-23T12:01:40.000Z',
  history: [
    { attempt: 1, startedAt: '2026-11-23T12:00:10.000Z', endedAt: '2026-11-23T12:00:30.000Z', error: 'boom' },
    { attempt: 2, startedAt: '2026-11-23T12:00:40.000Z', endedAt: '2026-11-23T12:01:40.000Z', error: 'boom' },
  ],
};

test('a run waited, was attempted, backed off and was attempted again, on one axis of time', () => {
  const stretches = listStretches({ ...failed, lane: { kind: 'order', field: '$.issue', value: 481 } });
  expect(stretches.map(({ title, sign }) => [title, sign])).toEqual([
    ['Waited in lane 481', 'done'],
    ['Attempt 1 failed', 'failed'],
    ['Backed off', 'done'],
    ['Attempt 2 failed', 'failed'],
  ]);
  const places = stretches.map(stretch => placeStretch(stretch, failed, 0));
  expect(places.map(({ from, length }) => [Math.round(from * 100), Math.round(length * 100)])).toEqual([
    [0, 10],
    [10, 20],
    [30, 10],
    [40, 60],
  ]);
});

test('a queued run says what it waits for, and a running one goes on until now', () => {
  const { error: _, history: __, ...fresh } = failed;
  const queued: ShownRun = {
    ...fresh,
    state: 'queued',
    attempts: 0,
    startedAt: null,
    finishedAt: null,
    waitsFor: 'limit',
  };
  expect(listStretches(queued)).toMatchObject([
    { title: 'Waits', toMs: null, note: 'For other runs to end.' },
  ]);
  expect(lengthOfRun(queued, 0)).toBeUndefined();
  const running: ShownRun = {
    ...fresh,
    ...{ state: 'running', attempts: 1, finishedAt: null },
    history: [{ attempt: 1, startedAt: '2026-11-23T12:00:00.000Z', endedAt: null }],
  };
  const [stretch] = listStretches(running);
  expect(stretch).toMatchObject({ title: 'Attempt 1 is running', sign: 'running', toMs: null });
  expect(lengthOfRun(running, Date.parse('2026-11-23T12:00:30.000Z'))).toBe('30 s');
});

test.for<readonly [string, Partial<ShownRun>, string, string]>([
  ['failed', {}, 'boom: no api', 'bad'],
  ['dismissed', { dismissed: true }, 'boom: no api', 'quiet'],
  ['stopped', { stopped: true }, 'Stopped: too many runs were started within an hour', 'quiet'],
  [
    'reported',
    { state: 'succeeded', report: { at: failed.createdAt, message: 'Left 2 comments' } },
    'Left 2 comments',
    'plain',
  ],
  [
    'reporting',
    { state: 'running', report: { at: failed.createdAt, message: 'Reading' } },
    '“Reading”',
    'quiet',
  ],
  ['attempted before', { state: 'running' }, 'Attempt 1: boom: no api', 'quiet'],
  ['held', { state: 'queued', waitsFor: 'order', heldBy: 'run_0' }, 'Waits for the failed run', 'quiet'],
  ['behind one', { state: 'queued', waitsFor: 'order' }, 'Waits for an earlier run', 'quiet'],
  [
    'cancelled',
    { state: 'cancelled', cancel: { at: failed.createdAt, by: 'ada', reason: 'Not needed' } },
    'Not needed',
    'quiet',
  ],
])('what came of a run that is %s is told in a line', ([, more, text, tone]) => {
  expect(describeResult({ ...failed, ...more })).toEqual({ text, tone });
});

test('an output is divided by its attempts, without the colours of a terminal', () => {
  const parts = splitOutput(
    [
      '[hookmill: attempt 1 at 2026-11-23T12:00:10.000Z]',
      '\u001b[31mboom\u001b[0m',
      '[hookmill: afterwards, attempt 1 at 2026-11-23T12:00:40.000Z]',
      'posted \u001b]8;;https://example.com\u0007link\u001b]8;;\u0007',
      '',
    ].join('\n'),
  );
  expect(parts.map(({ label }) => label)).toEqual(['attempt 1', 'afterwards, attempt 1']);
  expect(parts.map(({ lines }) => lines[1])).toEqual(['boom', 'posted link']);
});
