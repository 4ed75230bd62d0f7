import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openDeliveryLog } from '../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { acceptedDelivery } from '../../../support/deliveries.ts';
import { openLog, openReader, temporaryFile } from './delivery-log-samples.ts';

test('stores the automations that were applied once, however many deliveries refer to them', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const states = ['one', 'two', 'one', 'two'].map(digest => ({ digest, json: '{}' }));
  for (const appliedState of states) await log.recordAccepted(acceptedDelivery({ appliedState }));
  const database = new Database(file, { readonly: true });
  expect(database.prepare('SELECT count(*) FROM snapshots').pluck().get()).toBe(2);
  database.close();
});

test('commits deliveries that arrive together at once, and at most as many as fit one transaction', async () => {
  const log = await openLog();
  await Promise.all(Array.from({ length: 100 }, () => log.recordAccepted(acceptedDelivery())));
  expect(log.stats()).toMatchObject({ committed: 100, commits: 1, waiting: 0, waitingBytes: 0 });
  await Promise.all(Array.from({ length: 2_500 }, () => log.recordAccepted(acceptedDelivery())));
  expect(log.stats()).toMatchObject({ committed: 2_600, commits: 4 });
  const payload = randomBytes(3 * 1024 * 1024);
  await Promise.all(Array.from({ length: 5 }, () => log.recordAccepted(acceptedDelivery({ payload }))));
  expect(log.stats()).toMatchObject({ committed: 2_605, commits: 7 });
});

test('creates files that only their owner can read', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  await log.recordAccepted(acceptedDelivery());
  for (const each of [file, `${file}-wal`, `${file}-shm`]) expect(statSync(each).mode & 0o777).toBe(0o600);
});

test('leaves a file from a newer version untouched, for writing and for reading', async () => {
  const file = temporaryFile();
  const newer = new Database(file);
  newer.pragma('journal_mode = WAL');
  newer.pragma('user_version = 99');
  newer.close();
  const before = readFileSync(file);
  await expect(openDeliveryLog(file)).rejects.toMatchObject({ code: 'version', message: /format 99/ });
  expect(() => openReader(file)).toThrow(/format 99/);
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('keeps everything of a file from an older version', async () => {
  const file = writeOlderFile();
  const log = await openLog(file);
  const reader = openReader(file);
  const uid = 'wh_000000000000000000000pay';
  const known = { factory: 'default', webhook: 'pay', uid, size: 9, authenticatedBy: 'token' };
  const identified = { ...known, identity: 'evt_1', identitySource: 'scheme' };
  expect(reader.listDeliveries({ factory: 'default', limit: 9 })).toEqual([
    {
      ...{ ...identified, id: 'dlv_05', atMs: 3000, webhook: 'renamed', identity: 'evt_2' },
      ...{ outcome: 'Accepted', snapshot: 'one' },
    },
    {
      ...{ ...identified, id: 'dlv_03', atMs: 2000, outcome: 'Duplicate', duplicateOf: 'dlv_01' },
      snapshot: 'two',
    },
    {
      ...{ factory: 'default', webhook: 'pay', uid, id: 'dlv_02', atMs: 1500, size: 3 },
      ...{ outcome: 'Rejected (auth)', reason: 'the token is wrong' },
    },
    {
      ...{ ...identified, id: 'dlv_01', atMs: 1000, outcome: 'Accepted', snapshot: 'one' },
      headers: { 'x-event': 'a "b" é' },
    },
  ]);
  expect(reader.listDeliveries({ factory: 'other', limit: 9 })).toMatchObject([
    { id: 'dlv_04', webhook: 'git' },
  ]);
  expect(Buffer.from(reader.readPayload('dlv_01') ?? []).toString()).toBe('{"n": 1} ');
  expect(reader.readPayload('dlv_03')).toBeUndefined();
  expect(reader.readPayload('dlv_04')).toEqual(Buffer.from([0xff, 0]));
  expect(await log.readEvent('dlv_05')).toMatchObject({ headers: {} });
  const runs = reader.listRuns({ factory: 'default', limit: 9 });
  expect(runs.map(({ id, deliveryId, state, snapshot }) => [id, deliveryId, state, snapshot])).toEqual([
    ['run_04', 'dlv_01', 'queued', 'three'],
    ['run_03', 'dlv_05', 'queued', 'one'],
    ['run_02', 'dlv_01', 'running', 'one'],
    ['run_01', 'dlv_01', 'succeeded', 'one'],
  ]);
});

test('still recognises the deliveries of a file from an older version', async () => {
  const log = await openLog(writeOlderFile());
  const again = acceptedDelivery({ identity: 'evt_1', identitySource: 'scheme' });
  expect(await log.recordAccepted(again)).toEqual({ id: again.id, duplicateOf: 'dlv_01' });
  const signed = acceptedDelivery({ contentDigest: 'content' });
  expect(await log.recordAccepted(signed)).toEqual({ id: signed.id, duplicateOf: 'dlv_01' });
  const other = acceptedDelivery({ identity: 'evt_1', identitySource: 'X-Service-Delivery-Id' });
  expect(await log.recordAccepted(other)).toEqual({ id: other.id });
});

test('removes the automations of a file from an older version with the last delivery or run', async () => {
  const file = writeOlderFile();
  const log = await openLog(file);
  for (const claimedBy of ['d1', 'd2']) {
    const { runs } = await log.claimRuns({ daemonId: claimedBy, nowMs: 9_000, limit: 9 });
    for (const run of runs) await log.finishRun({ ...run, state: 'succeeded', atMs: 9_000 });
    await log.requeueRunsOfOthers('d2');
  }
  await log.prune({ keepNewest: 1, keepSinceMs: 9_000 });
  const reader = openReader(file);
  expect(['one', 'two', 'three'].map(digest => reader.readSnapshot(digest) !== undefined)).toEqual([
    true,
    true,
    false,
  ]);
  expect(await log.prune({ keepNewest: 1, keepSinceMs: 9_000 })).toMatchObject({ deliveries: 0 });
});

test('updates a file from the version before identities had sources, and before headers were kept', async () => {
  const file = writeOlderFile();
  const older = new Database(file);
  older.exec(`
    DROP INDEX deliveries_by_content;
    DROP INDEX deliveries_by_identity;
    ALTER TABLE deliveries DROP COLUMN content_digest;
    ALTER TABLE deliveries DROP COLUMN headers;
    CREATE UNIQUE INDEX deliveries_by_identity ON deliveries (uid, identity) WHERE outcome = 'Accepted';
    PRAGMA user_version = 2`);
  older.close();
  const updated = await openLog(file);
  const again = acceptedDelivery({ identity: 'evt_1', identitySource: 'scheme' });
  expect(await updated.recordAccepted(again)).toEqual({ id: again.id, duplicateOf: 'dlv_01' });
  const payload = new Uint8Array(Buffer.from('{"n": 2} '));
  expect(await updated.readEvent('dlv_05')).toEqual({ payload, headers: {} });
});

test('says which file does not open', async () => {
  const missing = join(temporaryFile(), 'missing', 'deliveries.db');
  await expect(openDeliveryLog(missing)).rejects.toThrow(missing);
});

test('moves the write-ahead log into the file when it closes', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  await log.recordAccepted(acceptedDelivery());
  await log.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
});

/** Writes a file as an older version left it, with deliveries of several outcomes and runs in several states. */
function writeOlderFile(): string {
  const file = temporaryFile();
  const database = new Database(file);
  database.exec(readFileSync(new URL('./format-4.sql', import.meta.url), 'utf8'));
  database.close();
  return file;
}
