import { closeSync, fsyncSync, openSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { firstSortableId } from '../../schema/ids.ts';
import { openDatabase, openDatabaseForReading } from '../../store/embedded/delivery-log/sql/database.ts';
import { openDeliveryLog } from '../../store/embedded/delivery-log/write/open-delivery-log.ts';
import type { AcceptedDelivery } from '../../store/ports/delivery-log.ts';

const days = 6;
const rowsPerStep = 100_000;

export interface FillOptions {
  readonly rows: number;
  /** About so many of the deliveries have a run, one in a hundred of which failed; by default none. */
  readonly runs?: number;
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
  { rows, runs = 0, newest, times }: FillOptions,
): Promise<void> {
  const database = openDatabase(file);
  // Only for the time of filling: the daemon makes the file durable again. SQLite refuses OFF here.
  database.pragma('journal_mode = MEMORY');
  database.pragma('synchronous = OFF');
  // The indexes of random keys stay in memory, each of which takes 40 bytes of a page: a page would be written again and again.
  database.pragma(`cache_size = -${1_000_000 + Math.round(rows * 0.08)}`);
  const series = database
    .prepareColumn<[string], number>(`
      INSERT INTO series (factory, webhook, uid, outcome, authenticated_by, identity_source)
      VALUES ('default', 'load', ?, 'Accepted', 'signature', 'body') RETURNING key`)
    .get(uid);
  const toMs = times?.toMs ?? Date.now();
  const firstMs = times?.fromMs ?? toMs - days * 86_400_000;
  database.addFunction('make_id', prepareIds('dlv') as never);
  database.addFunction('make_run_id', prepareIds('run') as never);
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
  if (runs > 0) database.prepare(insertRuns).run({ every: Math.max(1, Math.round(rows / runs)) });
  database.close();
  // The pages reach the disk now, not while something else is measured.
  const descriptor = openSync(file, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
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
function prepareIds(prefix: 'dlv' | 'run'): (atMs: number, n: number) => string {
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

const insertRuns = `
  INSERT INTO runs (id, delivery, factory, automation, replay, state, not_before_ms, created_at_ms)
  SELECT make_run_id(at_ms, seq), seq, 'default', 'triage', 0, iif(seq % 100 < @every, 'failed', 'succeeded'), at_ms, at_ms
  FROM deliveries WHERE seq % @every = 0`;

/** Deliveries that wait for a commit together: more of 256 KiB would be too many bytes. */
const recordsPerStep = 100;

/** Records so many deliveries as a daemon does, before it opens the log. */
export async function recordDeliveries(
  file: string,
  count: number,
  make: (index: number) => AcceptedDelivery,
): Promise<void> {
  const log = await openDeliveryLog(file);
  for (let from = 0; from < count; from += recordsPerStep) {
    const length = Math.min(recordsPerStep, count - from);
    await Promise.all(Array.from({ length }, (_, index) => log.recordAccepted(make(from + index))));
  }
  await log.close();
}
