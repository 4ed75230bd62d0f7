import { closeSync, fsyncSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { firstSortableId } from '../../schema/ids.ts';
import { openDatabase, openDatabaseForReading } from '../../store/embedded/delivery-log/sql/database.ts';

const days = 6;
const rowsPerStep = 100_000;

export interface FillOptions {
  /** The payload of so many of the newest deliveries; the others have `{}`. */
  readonly newest?: { readonly count: number; readonly payload: Uint8Array };
  /** The times between which the deliveries arrived; by default, the last six days. */
  readonly times?: { readonly fromMs: number; readonly toMs: number };
}

/**
 * Fills a home's log with accepted deliveries, before a daemon opens it. Their random keys scatter
 * the indexes as the keys of real deliveries do. Indexes that are made at the end would be sorted faster, but their pages
 * would be full: for a long time, each further delivery would split some. Identities and payloads are short, which saves
 * time and matters little unless the newest ones are given.
 */
export async function fillLog(
  file: string,
  uid: string,
  rows: number,
  { newest, times = lastDays() }: FillOptions = {},
): Promise<void> {
  const database = openDatabase(file);
  // Only for the time of filling: the daemon makes the file durable again. SQLite refuses OFF here.
  database.pragma('journal_mode = MEMORY');
  database.pragma('synchronous = OFF');
  // The indexes of random keys stay in memory, each of which takes 40 bytes of a page: a page would be written again and again.
  database.pragma(`cache_size = -${1_000_000 + Math.round(rows * 0.08)}`);
  const series = database
    .prepare(`
      INSERT INTO series (factory, webhook, uid, outcome, authenticated_by, identity_source)
      VALUES ('default', 'load', ?, 'Accepted', 'signature', 'body') RETURNING key`)
    .pluck()
    .get(uid);
  const { fromMs: firstMs, toMs } = times;
  database.function('make_id', prepareIds('dlv') as never);
  const stepMs = (toMs - firstMs) / rows;
  const { count: newestCount, payload } = newest ?? { count: 0, payload: null };
  const insert = database.prepare(insertDeliveries);
  database.exec('BEGIN');
  for (let from = 0; from < rows; from += rowsPerStep) {
    const to = Math.min(rows, from + rowsPerStep);
    insert.run({ from, to, rows, series, firstMs, stepMs, newestCount, payload });
    // A signal ends the benchmark here.
    await setImmediate();
  }
  database.exec('COMMIT');
  database.exec(tallyAll);
  closeDurably(database, file);
}

/** Closes it. The pages reach the disk now, not while something else is measured. */
function closeDurably(database: ReturnType<typeof openDatabase>, file: string): void {
  database.close();
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function lastDays(): Required<FillOptions>['times'] {
  return { fromMs: Date.now() - days * 86_400_000, toMs: Date.now() };
}

/** Records a run for every so many of the deliveries of `fillLog`, one in a hundred of them failed. */
export function fillRuns(
  file: string,
  { rows, runs }: { readonly rows: number; readonly runs: number },
): void {
  const database = openDatabase(file);
  database.pragma('synchronous = OFF');
  database.function('make_run_id', prepareIds('run') as never);
  database
    .prepare(`
      INSERT INTO runs (id, delivery, factory, automation, replay, state, not_before_ms, created_at_ms)
      SELECT make_run_id(at_ms, seq), seq, 'default', 'triage', 0, iif(seq % 100 < @every, 'failed', 'succeeded'), at_ms, at_ms
      FROM deliveries WHERE seq % @every = 0`)
    .run({ every: Math.max(1, Math.round(rows / runs)) });
  closeDurably(database, file);
}

/** Counts the deliveries of `fillLog`: those still there, and those of them that arrived since a time. */
export function countFilled(file: string, sinceMs: number): { readonly all: number; readonly since: number } {
  const database = openDatabaseForReading(file);
  const counts = database
    .prepare<[number], { all: number; since: number }>(`
      SELECT count(*) AS "all", count(*) FILTER (WHERE at_ms >= ?) AS since FROM deliveries
      WHERE series IN (SELECT key FROM series WHERE webhook = 'load')`)
    .get(sinceMs) ?? { all: 0, since: 0 };
  database.close();
  return counts;
}

/** Returns a function that makes an id as `createSortableId` does, but faster, from its time and a number. */
export function prepareIds(prefix: 'dlv' | 'run'): (atMs: number, n: number) => string {
  let last = { atMs: Number.NaN, text: '' };
  return (atMs, n) => {
    if (atMs !== last.atMs) last = { atMs, text: firstSortableId(prefix, atMs).slice(0, 14) };
    return last.text + String(n).padStart(16, '0');
  };
}

const insertDeliveries = `
  WITH RECURSIVE given (n) AS (SELECT @from UNION ALL SELECT n + 1 FROM given WHERE n + 1 < @to)
  INSERT INTO deliveries
    (id, series, at_ms, size, identity, identity_key, content_digest, content_key, headers, payload)
  SELECT make_id(CAST(@firstMs + n * @stepMs AS INTEGER), n), @series, CAST(@firstMs + n * @stepMs AS INTEGER), 2, n,
    randomblob(16), n, randomblob(16), '{}', iif(n >= @rows - @newestCount, @payload, CAST('{}' AS BLOB))
  FROM given`;

/** The tallies. Otherwise the daemon would make them at its start, for 20,000 deliveries a second. */
const tallyAll = `
  INSERT INTO tallies
    (factory, uid, hour, webhook, accepted, duplicates, rejected_auth, rejected_json, rejected_large, handshakes,
     first_good_ms, last_good_ms, longest_gap_ms, rejected_in_row)
  SELECT factory, uid, at_ms / 3600000, webhook, count(*), 0, 0, 0, 0, 0, min(at_ms), max(at_ms), 1, 0
  FROM deliveries JOIN series ON key = series GROUP BY series, at_ms / 3600000;
  UPDATE tally_position SET seq = (SELECT max(seq) FROM deliveries)`;
