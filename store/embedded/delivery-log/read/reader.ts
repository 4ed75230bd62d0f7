import type Database from 'better-sqlite3';
import { parseSourceCommit } from '../../../../schema/automations-snapshot.ts';
import type { Commit } from '../../../../schema/commit.ts';
import { type Outcome, type RunState, runStates } from '../../../../schema/delivery.ts';
import type { DeliveryLogReader, HourlyCount, LoggedDelivery } from '../../../delivery-log.ts';
import { type DeliveryRecord, toDelivery } from '../../../stored-rows.ts';
import { openDatabaseForReading } from '../sql/database.ts';
import { mergeFirst } from '../sql/merge-first.ts';
import {
  type RunRow,
  selectDelivery,
  selectPayload,
  selectRun,
  selectSnapshot,
  selectSource,
  toRun,
} from '../sql/rows.ts';
import { prepareSumUnlogged } from '../sql/unlogged.ts';
import type { QueryVerb } from './query.ts';

/** A reader whose methods are synchronous. */
export type SqliteReader = SynchronousReader & { close(): void };

type SynchronousReader = {
  readonly [V in QueryVerb]: (
    ...given: Parameters<DeliveryLogReader[V]>
  ) => Awaited<ReturnType<DeliveryLogReader[V]>>;
};

/** A log that was never written reads as empty. Throws DeliveryLogError `version`. */
export function openSqliteReader(file: string): SqliteReader {
  const database = openDatabaseForReading(file);
  const payload = database.prepare<[string], Uint8Array>(selectPayload).pluck();
  const snapshot = database.prepare<[string], string>(selectSnapshot).pluck();
  return {
    ...prepareDeliveryQueries(database),
    ...prepareCounts(database),
    ...prepareRunQueries(database),
    readPayload: deliveryId => payload.get(deliveryId),
    readSnapshot: digest => snapshot.get(digest),
    sumUnlogged: prepareSumUnlogged(database),
    close: () => database.close(),
  };
}

/** Calls the reader's method. `makeReader` has checked the types of the arguments. */
export function answerQuery(reader: SqliteReader, verb: QueryVerb, given: readonly unknown[]): unknown {
  const answer: (...given: unknown[]) => unknown = reader[verb] as never;
  return answer(...given);
}

// Lists merge the newest rows of each series, or of each state of runs, that the filter lets through. So they read no row
// that does not match, and a filter that matches nothing costs one look into the index for each of them.

function prepareDeliveryQueries(
  database: Database.Database,
): Pick<SynchronousReader, 'listDeliveries' | 'findDelivery'> {
  const selectSeries = database
    .prepare<{ factory: string; name: string | null; uid: string | null; outcome: string | null }, number>(`
      SELECT key FROM series WHERE factory = @factory
        AND (@name IS NULL AND @uid IS NULL OR webhook = @name OR uid = @uid)
        AND (@outcome IS NULL OR outcome = @outcome)`)
    .pluck();
  const selectSeqs = database
    .prepare<[number, number, number, number], number>(
      'SELECT seq FROM deliveries WHERE series = ? AND seq > ? AND seq < ? ORDER BY seq DESC LIMIT ?',
    )
    .pluck();
  const list = database.prepare<[string, number], DeliveryRecord>(`${selectDelivery}
    WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT ?`);
  const find = database.prepare<[string], DeliveryRecord>(`${selectDelivery} WHERE deliveries.id = ?`);
  const selectSeq = database.prepare<[string], number>('SELECT seq FROM deliveries WHERE id = ?').pluck();
  const source = database.prepare<[string], string | null>(selectSource).pluck();

  /** Parses each snapshot's source once: many rows share one, and it may be long. */
  const withCommits = (rows: readonly LoggedDelivery[]): LoggedDelivery[] => {
    const commits = new Map<string, Commit | undefined>();
    return rows.map(row => {
      const { snapshot: digest } = row;
      if (digest === undefined) return row;
      if (!commits.has(digest)) commits.set(digest, parseSourceCommit(source.get(digest)));
      const commit = commits.get(digest);
      return commit ? { ...row, commit } : row;
    });
  };

  return {
    listDeliveries({ factory, webhook, uid, outcome, limit, before }) {
      const beforeSeq = before === undefined ? Number.MAX_SAFE_INTEGER : (selectSeq.get(before) ?? 0);
      const filter = { factory, name: webhook ?? null, uid: uid ?? null, outcome: outcome ?? null };
      const seqs = mergeFirst(selectSeries.all(filter), limit, newestFirst, (key, end = 0) =>
        selectSeqs.all(key, end, beforeSeq, limit),
      );
      return withCommits(list.all(JSON.stringify(seqs), limit).map(toDelivery));
    },
    findDelivery: id => withCommits(find.all(id).map(toDelivery))[0],
  };
}

function prepareCounts(
  database: Database.Database,
): Pick<SynchronousReader, 'countAccepted' | 'countByHour'> {
  // All of them need only the index by series and age.
  const lastAccepted = database
    .prepare<[string], number | null>(`
      SELECT max((SELECT max(at_ms) FROM deliveries WHERE series = key)) FROM series
      WHERE uid = ? AND outcome = 'Accepted'`)
    .pluck();
  const accepted = database
    .prepare<[string, number], number>(`
      SELECT count(*) FROM series CROSS JOIN deliveries ON series = key
      WHERE uid = ? AND outcome = 'Accepted' AND at_ms >= ?`)
    .pluck();
  const hourly = database.prepare<{ uid: string; sinceMs: number }, HourlyCount>(`
    SELECT outcome, CAST((at_ms - @sinceMs) / ${hourMs} AS INTEGER) AS hour, count(*) AS deliveries
    FROM series CROSS JOIN deliveries ON series = key WHERE uid = @uid AND at_ms >= @sinceMs
    GROUP BY outcome, hour`);
  const latest = database.prepare<[string], { id: string; atMs: number; outcome: Outcome }>(`
    SELECT id, at_ms AS atMs, outcome
    FROM series CROSS JOIN deliveries
      ON seq = (SELECT seq FROM deliveries WHERE series = key ORDER BY at_ms DESC, seq DESC LIMIT 1)
    WHERE uid = ? ORDER BY at_ms DESC, seq DESC LIMIT 1`);
  return {
    countAccepted(uid, sinceMs) {
      const lastAtMs = lastAccepted.get(uid) ?? undefined;
      const count = { accepted: accepted.get(uid, sinceMs) ?? 0 };
      return lastAtMs === undefined ? count : { lastAtMs, ...count };
    },
    countByHour(uid, sinceMs) {
      const last = latest.get(uid);
      const counts = hourly.all({ uid, sinceMs });
      return last ? { latest: last, counts } : { counts };
    },
  };
}

function prepareRunQueries(
  database: Database.Database,
): Pick<SynchronousReader, 'listRuns' | 'findRun' | 'listRunsOfDelivery'> {
  const newest = 'seq > @end AND seq < @beforeSeq ORDER BY seq DESC LIMIT @limit';
  const selectSeqs = database
    .prepare<RunListParameters, number>(`
      SELECT seq FROM runs WHERE factory = @factory AND state = @state AND ${newest}`)
    .pluck();
  const selectSeqsOfAutomation = database
    .prepare<RunListParameters & { automation: string }, number>(`
      SELECT seq FROM runs WHERE factory = @factory AND automation = @automation AND state = @state AND ${newest}`)
    .pluck();
  const list = database.prepare<[string, number], RunRow>(`${selectRun}
    WHERE runs.seq IN (SELECT value FROM json_each(?)) ORDER BY runs.seq DESC LIMIT ?`);
  const find = database.prepare<[string], RunRow>(`${selectRun} WHERE runs.id = ?`);
  const ofDelivery = database.prepare<[string], RunRow>(
    `${selectRun} WHERE deliveries.id = ? ORDER BY runs.seq`,
  );
  const selectSeq = database.prepare<[string], number>('SELECT seq FROM runs WHERE id = ?').pluck();
  return {
    listRuns({ factory, automation, state, limit, before }) {
      const beforeSeq = before === undefined ? Number.MAX_SAFE_INTEGER : (selectSeq.get(before) ?? 0);
      const seqs = mergeFirst<RunState, number>(
        state === undefined ? runStates : [state],
        limit,
        newestFirst,
        (state, end = 0) => {
          const given = { factory, state, end, beforeSeq, limit };
          return automation === undefined
            ? selectSeqs.all(given)
            : selectSeqsOfAutomation.all({ ...given, automation });
        },
      );
      return list.all(JSON.stringify(seqs), limit).map(toRun);
    },
    findRun: id => find.all(id).map(toRun)[0],
    listRunsOfDelivery: deliveryId => ofDelivery.all(deliveryId).map(toRun),
  };
}

const hourMs = 3_600_000;

interface RunListParameters {
  readonly factory: string;
  readonly state: RunState;
  /** Where the list ends: only newer runs. */
  readonly end: number;
  readonly beforeSeq: number;
  readonly limit: number;
}

const newestFirst = (a: number, b: number) => b - a;
