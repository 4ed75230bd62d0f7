import type { VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { SynchronousReader, UnloggedCount } from '../../../ports/delivery-log.ts';
import { rowsPerPageMax, type TransferUnlogged } from '../../../ports/transfer.ts';

/** @limit Most counts of requests without a row that are removed in one step of pruning: a new delivery waits a few ms for it at most. */
const countsPerPruneStepMax = 1_000;

/** Runs within the caller's transaction. */
export function prepareRecordUnlogged(database: SqliteDatabase): VerbTable['recordUnlogged'] {
  const add = database.prepare<[UnloggedCount]>(`${insertUnlogged}
    ON CONFLICT DO UPDATE SET count = count + excluded.count, last_at_ms = max(last_at_ms, excluded.last_at_ms)`);
  return counts => {
    for (const count of counts) add.run(count);
    return counts.length;
  };
}

/** The minute of a count is the minute of its last request. */
const insertUnlogged = `
  INSERT INTO unlogged (factory, minute, uid, reason, detail, count, last_at_ms)
  VALUES (@factory, CAST(@lastAtMs / 60000 AS INTEGER), @uid, @reason, @detail, @count, @lastAtMs)`;

export function prepareSumUnlogged(database: SqliteDatabase): SynchronousReader['sumUnlogged'] {
  const sum = database.prepare<{ factory: string; uid: string | null; sinceMs: number }, UnloggedCount>(`
    SELECT factory, uid, reason, detail, sum(count) AS count, max(last_at_ms) AS lastAtMs FROM unlogged
    WHERE factory = @factory AND minute >= CAST(@sinceMs / 60000 AS INTEGER) AND (@uid IS NULL OR uid = @uid)
    GROUP BY uid, reason, detail ORDER BY lastAtMs DESC, uid, reason, detail`);
  return ({ uid, ...filter }) => sum.all({ ...filter, uid: uid ?? null });
}

/** Removes a step's share of what is older than a time. Returns whether there may be more. */
export function prepareRemoveUnlogged(database: SqliteDatabase): (keepSinceMs: number) => boolean {
  const remove = database.prepare<[number, number]>(`
    DELETE FROM unlogged WHERE seq IN (SELECT seq FROM unlogged WHERE minute < CAST(? / 60000 AS INTEGER) LIMIT ?)`);
  return keepSinceMs => remove.run(keepSinceMs, countsPerPruneStepMax).changes === countsPerPruneStepMax;
}

export function readTransferUnlogged(
  database: SqliteDatabase,
  factory: string,
  after: number,
): TransferUnlogged[] {
  return database
    .prepare<[string, number, number], TransferUnlogged>(`
      SELECT seq AS position, concat_ws(' ', minute, uid, reason, detail) AS id, factory, NULL AS snapshot,
        NULL AS bytes, uid, reason, detail, count, last_at_ms AS lastAtMs
      FROM unlogged WHERE factory = ? AND seq > ? ORDER BY seq LIMIT ?`)
    .all(factory, after, rowsPerPageMax);
}

/** Appends counts in one transaction. */
export function writeTransferUnlogged(database: SqliteDatabase, rows: readonly TransferUnlogged[]): void {
  const insert = database.prepare<[TransferUnlogged]>(insertUnlogged);
  database.transact(() => {
    for (const row of rows) insert.run(row);
  });
}
