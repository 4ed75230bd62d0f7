import type Database from 'better-sqlite3';
import { parseSourceCommit } from '../../../../schema/automations-snapshot.ts';
import type { Commit } from '../../../../schema/commit.ts';
import type { Outcome } from '../../../../schema/delivery.ts';
import type { DeliveryLogReader, HourlyCount, LoggedDelivery } from '../../../delivery-log.ts';
import { type DeliveryRecord, toDelivery } from '../../../stored-rows.ts';
import { openDatabaseForReading } from '../sql/database.ts';
import {
  type RunRow,
  selectDelivery,
  selectPayload,
  selectRun,
  selectSnapshot,
  selectSource,
  toRun,
} from '../sql/rows.ts';
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
    close: () => database.close(),
  };
}

/** Calls the reader's method. `makeReader` has checked the types of the arguments. */
export function answerQuery(reader: SqliteReader, verb: QueryVerb, given: readonly unknown[]): unknown {
  const answer: (...given: unknown[]) => unknown = reader[verb] as never;
  return answer(...given);
}

// The index that orders each list also has the columns of its filters, so rows that do not match are never read.

function prepareDeliveryQueries(
  database: Database.Database,
): Pick<SynchronousReader, 'listDeliveries' | 'findDelivery'> {
  const list = database.prepare<ListParameters & { uid: string | null }, DeliveryRecord>(`${selectDelivery}
    WHERE deliveries.factory = @factory AND deliveries.seq < @beforeSeq
      AND (@name IS NULL AND @uid IS NULL OR webhook = @name OR uid = @uid)
      AND (@label IS NULL OR outcome = @label)
    ORDER BY deliveries.seq DESC LIMIT @limit`);
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
      const labels = { name: webhook ?? null, uid: uid ?? null, label: outcome ?? null };
      return withCommits(list.all({ factory, ...labels, limit, beforeSeq }).map(toDelivery));
    },
    findDelivery: id => withCommits(find.all(id).map(toDelivery))[0],
  };
}

function prepareCounts(
  database: Database.Database,
): Pick<SynchronousReader, 'countAccepted' | 'countByHour'> {
  // Both walk the index by UID and age from its newer end.
  const lastAccepted = database
    .prepare<[string], number>(
      "SELECT at_ms FROM deliveries WHERE uid = ? AND outcome = 'Accepted' ORDER BY at_ms DESC LIMIT 1",
    )
    .pluck();
  const accepted = database
    .prepare<[string, number], number>(
      "SELECT count(*) FROM deliveries WHERE uid = ? AND at_ms >= ? AND outcome = 'Accepted'",
    )
    .pluck();
  const hourly = database.prepare<{ uid: string; sinceMs: number }, HourlyCount>(`
    SELECT outcome, CAST((at_ms - @sinceMs) / ${hourMs} AS INTEGER) AS hour, count(*) AS deliveries
    FROM deliveries WHERE uid = @uid AND at_ms >= @sinceMs
    GROUP BY outcome, hour`);
  const latest = database.prepare<[string], { id: string; atMs: number; outcome: Outcome }>(`
    SELECT id, at_ms AS atMs, outcome FROM deliveries WHERE uid = ? ORDER BY at_ms DESC LIMIT 1`);
  return {
    countAccepted(uid, sinceMs) {
      const lastAtMs = lastAccepted.get(uid);
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
  const list = database.prepare<ListParameters, RunRow>(`${selectRun}
    WHERE runs.factory = @factory AND runs.seq < @beforeSeq
      AND (@name IS NULL OR automation = @name) AND (@label IS NULL OR state = @label)
    ORDER BY runs.seq DESC LIMIT @limit`);
  const find = database.prepare<[string], RunRow>(`${selectRun} WHERE runs.id = ?`);
  const ofDelivery = database.prepare<[string], RunRow>(
    `${selectRun} WHERE deliveries.id = ? ORDER BY runs.seq`,
  );
  const selectSeq = database.prepare<[string], number>('SELECT seq FROM runs WHERE id = ?').pluck();
  return {
    listRuns({ factory, automation, state, limit, before }) {
      const beforeSeq = before === undefined ? Number.MAX_SAFE_INTEGER : (selectSeq.get(before) ?? 0);
      const filter = { factory, name: automation ?? null, label: state ?? null, limit, beforeSeq };
      return list.all(filter).map(toRun);
    },
    findRun: id => find.all(id).map(toRun)[0],
    listRunsOfDelivery: deliveryId => ofDelivery.all(deliveryId).map(toRun),
  };
}

const hourMs = 3_600_000;

interface ListParameters {
  readonly factory: string;
  readonly name: string | null;
  readonly label: string | null;
  readonly limit: number;
  readonly beforeSeq: number;
}
