import { copyFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { moveWalAfter } from '../../../../../store/embedded/delivery-log/sql/database.ts';
import { openDeliveryLog } from '../../../../../store/embedded/delivery-log/write/open-delivery-log.ts';
import { SqliteDatabase } from '../../../../../store/home/sqlite.ts';
import { acceptedDelivery } from '../../../../support/deliveries.ts';
import { temporaryFile } from './delivery-log-samples.ts';

/** Counts the deliveries in the file itself, without the write-ahead log beside it. */
function countInFile(file: string): unknown {
  const copy = `${file}-copy`;
  copyFileSync(file, copy);
  const database = new SqliteDatabase(copy);
  const count = database.prepareColumn('SELECT count(*) FROM deliveries').get();
  database.close();
  rmSync(copy);
  return count;
}

test('what was committed during a long read is in the file once it ends, before the next commit', async () => {
  const file = temporaryFile();
  // Closing it puts the tables into the file.
  await (await openDeliveryLog(file)).close();
  const log = await openDeliveryLog(file);
  const reader = new SqliteDatabase(file, { readOnly: true });
  const count = reader.prepareColumn('SELECT count(*) FROM deliveries');
  reader.exec('BEGIN');
  expect(count.get()).toBe(0);
  // 32 MiB: four times the size at which SQLite moves it by itself, if nobody reads.
  for (let index = 0; index < 32; index++)
    await log.recordAccepted(acceptedDelivery({ payload: Buffer.alloc(2 ** 20) }));
  expect(countInFile(file)).toBe(0);
  let hasEnded = false;
  moveWalAfter(file, () => {
    hasEnded = true;
    reader.close();
  });
  expect(hasEnded).toBe(true);
  expect(countInFile(file)).toBe(32);
  await log.close();
});

test('a read ends although there is no log yet', () => {
  let hasEnded = false;
  moveWalAfter(temporaryFile(), () => {
    hasEnded = true;
  });
  expect(hasEnded).toBe(true);
});
