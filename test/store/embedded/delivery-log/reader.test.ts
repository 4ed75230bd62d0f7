import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  acceptedDelivery,
  newRun,
  openLog,
  openReader,
  rejectedDelivery,
  temporaryFile,
} from './delivery-log-samples.ts';

test('reads a log that was never written as empty', () => {
  const reader = openReader(join(temporaryFile(), 'missing', 'deliveries.db'));
  expect(reader.listDeliveries({ factory: 'default', limit: 9 })).toEqual([]);
  expect(reader.listRuns({ factory: 'default', limit: 9 })).toEqual([]);
  expect(reader.findDelivery('dlv_1')).toBeUndefined();
});

test('lists newest first by commit, whatever the clock said, and filters by factory, webhook and outcome', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  await log.recordAccepted(acceptedDelivery({ id: 'a', atMs: 3_000 }));
  await log.recordAccepted(acceptedDelivery({ id: 'b', atMs: 1_000, webhook: 'git' }));
  await log.recordAccepted(acceptedDelivery({ id: 'c', atMs: 2_000, factory: 'other' }));
  log.recordUnidentified(rejectedDelivery({ id: 'd', atMs: 500 }));
  await log.close();
  const reader = openReader(file);
  const list = (filter: object) =>
    reader.listDeliveries({ factory: 'default', limit: 9, ...filter }).map(({ id }) => id);
  expect(list({})).toEqual(['d', 'b', 'a']);
  expect(list({ webhook: 'pay' })).toEqual(['d', 'a']);
  expect(list({ webhook: 'pay', outcome: 'Accepted' })).toEqual(['a']);
  expect(list({ outcome: 'Duplicate' })).toEqual([]);
  expect(list({ factory: 'other' })).toEqual(['c']);
});

test('gives page after page, each row once, while more are written', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const ids = Array.from({ length: 7 }, (_, index) => `dlv_${index}`);
  for (const id of ids)
    await log.recordAccepted(acceptedDelivery({ id, runs: [{ ...newRun(), id: `of ${id}` }] }));
  const reader = openReader(file);
  const deliveries: string[] = [];
  const runs: string[] = [];
  for (let page = 0; page < 4; page++) {
    const [delivery, run] = [deliveries.at(-1), runs.at(-1)];
    const filter = { factory: 'default', limit: 3 };
    deliveries.push(
      ...reader.listDeliveries(delivery ? { ...filter, before: delivery } : filter).map(({ id }) => id),
    );
    runs.push(...reader.listRuns(run ? { ...filter, before: run } : filter).map(({ id }) => id));
    await log.recordAccepted(acceptedDelivery());
  }
  expect(deliveries).toEqual(ids.toReversed());
  expect(runs).toEqual(ids.toReversed().map(id => `of ${id}`));
  expect(reader.listDeliveries({ factory: 'default', limit: 3, before: 'dlv_unknown' })).toEqual([]);
});

test('lists runs of one automation, of one state, of one delivery', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const runs = [newRun('a'), newRun('b')];
  const { id } = await log.recordAccepted(acceptedDelivery({ runs }));
  await log.recordAccepted(acceptedDelivery({ runs: [newRun('a')] }));
  const reader = openReader(file);
  expect(reader.listRuns({ factory: 'default', limit: 9, automation: 'a' })).toHaveLength(2);
  expect(reader.listRuns({ factory: 'default', limit: 9, state: 'running' })).toEqual([]);
  expect(reader.listRuns({ factory: 'other', limit: 9 })).toEqual([]);
  expect(reader.listRunsOfDelivery(id).map(run => run.automation)).toEqual(['a', 'b']);
});

test('counts what a UID accepted since a time, and tells when it last did', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const uid = 'wh_000000000000000000000one';
  for (const atMs of [1_000, 4_000, 3_000]) await log.recordAccepted(acceptedDelivery({ uid, atMs }));
  await log.recordAccepted(acceptedDelivery({ uid: 'wh_000000000000000000000two', atMs: 9_000 }));
  log.recordUnidentified(rejectedDelivery({ uid, atMs: 8_000 }));
  await log.close();
  const reader = openReader(file);
  expect(reader.countAccepted(uid, 3_000)).toEqual({ lastAtMs: 4_000, accepted: 2 });
  expect(reader.countAccepted(uid, 4_001)).toEqual({ lastAtMs: 4_000, accepted: 0 });
  expect(reader.countAccepted('wh_00000000000000000000none', 0)).toEqual({ accepted: 0 });
});
