import { expect, test, vi } from 'vitest';
import { acceptedDelivery, newRun, openLog, openReader, temporaryFile } from './delivery-log-samples.ts';

const claim = { daemonId: 'daemon one', nowMs: 1_750_000_000_000, limit: 10 };
const { nowMs } = claim;

test('records the runs of a delivery with it and tells of them when it is committed', async () => {
  const file = temporaryFile();
  const onRunsQueued = vi.fn();
  const log = await openLog(file, { onRunsQueued });
  await log.recordAccepted(acceptedDelivery());
  expect(onRunsQueued).not.toHaveBeenCalled();
  const runs = [newRun('triage'), newRun('notify')];
  const { id } = await log.recordAccepted(acceptedDelivery({ runs }));
  expect(onRunsQueued).toHaveBeenCalledOnce();
  const reader = openReader(file);
  const queued = {
    deliveryId: id,
    factory: 'default',
    webhook: 'pay',
    replay: false,
    snapshot: 'digest one',
    state: 'queued',
    attempts: 0,
    notBeforeMs: nowMs,
    createdAtMs: nowMs,
  };
  expect(reader.listRunsOfDelivery(id)).toEqual(runs.map(run => ({ ...queued, ...run })));
});

test('gives each run to one claim only, the one that waits longest first', async () => {
  const log = await openLog();
  const runs = Array.from({ length: 5 }, () => newRun());
  await log.recordAccepted(acceptedDelivery({ runs: runs.slice(2), atMs: nowMs }));
  await log.recordAccepted(acceptedDelivery({ runs: runs.slice(0, 2), atMs: nowMs - 1 }));
  const [first, second] = await Promise.all([log.claimRuns({ ...claim, limit: 3 }), log.claimRuns(claim)]);
  expect(first.runs.map(({ id }) => id)).toEqual(runs.slice(0, 3).map(({ id }) => id));
  expect(second.runs.map(({ id }) => id)).toEqual(runs.slice(3).map(({ id }) => id));
  expect(first.runs[0]).toMatchObject({
    state: 'running',
    attempts: 1,
    claimedBy: 'daemon one',
    startedAtMs: nowMs,
  });
  expect(await log.claimRuns(claim)).toEqual({ runs: [] });
});

test('has a claim on disk before it is given', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
  const { runs } = await log.claimRuns(claim);
  expect(openReader(file).listRuns({ factory: 'default', limit: 9 })).toEqual(runs);
});

test('finishes a running run once', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const [good, bad] = [newRun('good'), newRun('bad')];
  await log.recordAccepted(acceptedDelivery({ runs: [good, bad] }));
  expect(await log.finishRun({ id: good.id, state: 'succeeded', atMs: nowMs })).toBe(false);
  await log.claimRuns(claim);
  const atMs = nowMs + 5;
  expect(await log.finishRun({ id: good.id, state: 'succeeded', atMs })).toBe(true);
  expect(await log.finishRun({ id: good.id, state: 'failed', atMs })).toBe(false);
  expect(await log.finishRun({ id: bad.id, state: 'failed', atMs, error: 'exit status 1' })).toBe(true);
  const reader = openReader(file);
  expect(reader.findRun(good.id)).toMatchObject({ state: 'succeeded', finishedAtMs: atMs });
  expect(reader.findRun(good.id)).not.toHaveProperty('error');
  expect(reader.findRun(bad.id)).toMatchObject({ state: 'failed', error: 'exit status 1' });
  expect(reader.listRuns({ factory: 'default', state: 'failed', limit: 9 }).map(({ id }) => id)).toEqual([
    bad.id,
  ]);
});

test('holds a postponed run back until it is due and says when that is', async () => {
  const log = await openLog();
  const run = newRun();
  await log.recordAccepted(acceptedDelivery({ runs: [run] }));
  await log.claimRuns(claim);
  const notBeforeMs = nowMs + 1_000;
  expect(await log.postponeRun({ id: run.id, notBeforeMs, error: 'HTTP 503' })).toBe(true);
  expect(await log.postponeRun({ id: run.id, notBeforeMs })).toBe(false);
  expect(await log.claimRuns({ ...claim, nowMs: notBeforeMs - 1 })).toEqual({
    runs: [],
    nextDueMs: notBeforeMs,
  });
  const { runs } = await log.claimRuns({ ...claim, nowMs: notBeforeMs });
  expect(runs).toMatchObject([{ id: run.id, attempts: 2, error: 'HTTP 503' }]);
});

test('queues again what a dead daemon left running, and nothing else', async () => {
  const file = temporaryFile();
  const [left, kept, done] = [newRun('left'), newRun('kept'), newRun('done')];
  const dead = await openLog(file);
  await dead.recordAccepted(acceptedDelivery({ runs: [left, done] }));
  await dead.claimRuns({ ...claim, daemonId: 'dead' });
  await dead.finishRun({ id: done.id, state: 'succeeded', atMs: nowMs });
  const onRunsQueued = vi.fn();
  const log = await openLog(file, { onRunsQueued });
  await log.recordAccepted(acceptedDelivery({ runs: [kept] }));
  await log.claimRuns(claim);
  onRunsQueued.mockClear();
  expect(await log.requeueRunsOfOthers(claim.daemonId)).toBe(1);
  expect(onRunsQueued).toHaveBeenCalledOnce();
  const reader = openReader(file);
  expect([left, kept, done].map(({ id }) => reader.findRun(id)?.state)).toEqual([
    'queued',
    'running',
    'succeeded',
  ]);
  expect((await log.claimRuns(claim)).runs).toMatchObject([{ id: left.id, attempts: 2 }]);
});

test('retries a failed run under its id, with its attempts counted anew', async () => {
  const onRunsQueued = vi.fn();
  const log = await openLog(undefined, { onRunsQueued });
  const run = newRun();
  await log.recordAccepted(acceptedDelivery({ runs: [run] }));
  const retry = { id: run.id, nowMs };
  expect(await log.retryRun(retry)).toBe(false);
  await log.claimRuns(claim);
  expect(await log.retryRun(retry)).toBe(false);
  await log.finishRun({ id: run.id, state: 'failed', atMs: nowMs, error: 'exit status 1' });
  onRunsQueued.mockClear();
  expect(await log.retryRun(retry)).toBe(true);
  expect(onRunsQueued).toHaveBeenCalledOnce();
  const { runs } = await log.claimRuns(claim);
  expect(runs).toMatchObject([{ id: run.id, state: 'running', attempts: 1 }]);
  expect(runs[0]).not.toHaveProperty('finishedAtMs');
});

test('replays a stored payload in new runs that are marked, under the automations given', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const appliedState = { digest: 'digest two', json: '{"automations":["two"]}' };
  const { id: deliveryId } = await log.recordAccepted(acceptedDelivery({ runs: [newRun()] }));
  const runs = [newRun('later')];
  expect(await log.replay({ deliveryId, runs, appliedState, nowMs: nowMs + 7 })).toBe(true);
  const reader = openReader(file);
  expect(reader.listRunsOfDelivery(deliveryId)).toMatchObject([
    { automation: 'triage', replay: false, snapshot: 'digest one' },
    { automation: 'later', replay: true, snapshot: 'digest two', createdAtMs: nowMs + 7 },
  ]);
  expect(reader.listDeliveries({ factory: 'default', limit: 9 })).toHaveLength(1);
  const { id } = await log.recordAccepted(acceptedDelivery());
  expect(reader.findDelivery(id)?.snapshot).toBe('digest one');
});

test('replays neither an unknown delivery nor one without a payload', async () => {
  const log = await openLog();
  const [original, duplicate] = [acceptedDelivery({ identity: 'a' }), acceptedDelivery({ identity: 'a' })];
  await Promise.all([log.recordAccepted(original), log.recordAccepted(duplicate)]);
  const replay = { runs: [newRun()], appliedState: { digest: 'd', json: '{}' }, nowMs };
  expect(await log.replay({ ...replay, deliveryId: duplicate.id })).toBe(false);
  expect(await log.replay({ ...replay, deliveryId: 'dlv_unknown' })).toBe(false);
  expect(await log.claimRuns(claim)).toEqual({ runs: [] });
});
