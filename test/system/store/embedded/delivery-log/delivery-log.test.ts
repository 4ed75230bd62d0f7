import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { SqliteDatabase } from '../../../../../store/home/sqlite.ts';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { openLog, openReader, temporaryFile } from './delivery-log-samples.ts';

test('stores the automations that were applied once, however many deliveries refer to them', async () => {
  const file = temporaryFile();
  const log = await openLog(file);
  const states = ['one', 'two', 'one', 'two'].map(digest => ({ digest, json: '{}' }));
  for (const appliedState of states) await log.recordAccepted(acceptedDelivery({ appliedState }));
  const database = new SqliteDatabase(file, { readOnly: true });
  expect(database.prepareColumn('SELECT count(*) FROM snapshots').get()).toBe(2);
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
  const newer = new SqliteDatabase(file);
  newer.pragma('journal_mode = WAL');
  newer.pragma('user_version = 99');
  newer.close();
  const before = readFileSync(file);
  await expect(openDeliveryLog(file)).rejects.toMatchObject({ code: 'version', message: /format 99/ });
  expect(() => openReader(file)).toThrow(/format 99/);
  expect(readFileSync(file).equals(before)).toBe(true);
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
