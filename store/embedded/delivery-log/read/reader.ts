import { parseSourceCommit } from '../../../../schema/automations-snapshot.ts';
import type { Commit } from '../../../../schema/commit.ts';
import type { Outcome } from '../../../../schema/delivery.ts';
import type { DeliveryLogReader, HourlyCount, LoggedDelivery } from '../../../delivery-log.ts';
import { openDatabaseForReading } from '../sql/database.ts';
import {
  deliveryOf,
  type RunRow,
  runOf,
  selectDelivery,
  selectPayload,
  selectRun,
  selectSnapshot,
  selectSource,
} from '../sql/rows.ts';

/** The verbs of a reader, answered at once. */
export type SqliteReader = {
  readonly [V in keyof DeliveryLogReader]: (
    ...given: Parameters<DeliveryLogReader[V]>
  ) => Awaited<ReturnType<DeliveryLogReader[V]>>;
} & { close(): void };

/** A log that was never written reads as empty. Throws DeliveryLogError `version`. */
export function openSqliteReader(file: string): SqliteReader {
  const database = openDatabaseForReading(file);
  // The filters' columns are all in the index that gives the order: rows that do not match are never read.
  const deliveries = database.prepare<
    ListParameters & { uid: string | null },
    LoggedDelivery
  >(`${selectDelivery}
    WHERE deliveries.factory = @factory AND deliveries.seq < @beforeSeq
      AND (@name IS NULL OR webhook = @name) AND (@uid IS NULL OR uid = @uid)
      AND (@label IS NULL OR outcome = @label)
    ORDER BY deliveries.seq DESC LIMIT @limit`);
  const runs = database.prepare<ListParameters, RunRow>(`${selectRun}
    WHERE runs.factory = @factory AND runs.seq < @beforeSeq
      AND (@name IS NULL OR automation = @name) AND (@label IS NULL OR state = @label)
    ORDER BY runs.seq DESC LIMIT @limit`);
  const deliveryById = database.prepare<[string], LoggedDelivery>(
    `${selectDelivery} WHERE deliveries.id = ?`,
  );
  // Both walk the index by UID and age from its newer end.
  const lastAccepted = database
    .prepare<[string], number>(
      "SELECT at_ms FROM deliveries WHERE uid = ? AND outcome = 'Accepted' ORDER BY at_ms DESC LIMIT 1",
    )
    .pluck();
  const countAccepted = database
    .prepare<[string, number], number>(
      "SELECT count(*) FROM deliveries WHERE uid = ? AND at_ms >= ? AND outcome = 'Accepted'",
    )
    .pluck();
  const runById = database.prepare<[string], RunRow>(`${selectRun} WHERE runs.id = ?`);
  const runsByDelivery = database.prepare<[string], RunRow>(
    `${selectRun} WHERE deliveries.id = ? ORDER BY runs.seq`,
  );
  const deliverySeq = database.prepare<[string], number>('SELECT seq FROM deliveries WHERE id = ?').pluck();
  const runSeq = database.prepare<[string], number>('SELECT seq FROM runs WHERE id = ?').pluck();
  const hourlyCounts = database.prepare<{ uid: string; sinceMs: number }, HourlyCount>(`
    SELECT outcome, CAST((at_ms - @sinceMs) / ${hourMs} AS INTEGER) AS hour, count(*) AS deliveries
    FROM deliveries WHERE uid = @uid AND at_ms >= @sinceMs
    GROUP BY outcome, hour`);
  const latestOf = database.prepare<[string], { id: string; atMs: number; outcome: Outcome }>(`
    SELECT id, at_ms AS atMs, outcome FROM deliveries WHERE uid = ? ORDER BY at_ms DESC LIMIT 1`);
  const payload = database.prepare<[string], Uint8Array>(selectPayload).pluck();
  const snapshot = database.prepare<[string], string>(selectSnapshot).pluck();
  const source = database.prepare<[string], string | null>(selectSource).pluck();

  /** Few rows in a row have different ones, and a snapshot may be long. */
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
      const beforeSeq = before === undefined ? Number.MAX_SAFE_INTEGER : (deliverySeq.get(before) ?? 0);
      const labels = { name: webhook ?? null, uid: uid ?? null, label: outcome ?? null };
      return withCommits(deliveries.all({ factory, ...labels, limit, beforeSeq }).map(deliveryOf));
    },
    findDelivery: id => withCommits(deliveryById.all(id).map(deliveryOf))[0],
    countAccepted(uid, sinceMs) {
      const lastAtMs = lastAccepted.get(uid);
      const accepted = countAccepted.get(uid, sinceMs) ?? 0;
      return lastAtMs === undefined ? { accepted } : { lastAtMs, accepted };
    },
    countByHour(uid, sinceMs) {
      const latest = latestOf.get(uid);
      const counts = hourlyCounts.all({ uid, sinceMs });
      return latest ? { latest, counts } : { counts };
    },
    readPayload: deliveryId => payload.get(deliveryId),
    listRuns({ factory, automation, state, limit, before }) {
      const beforeSeq = before === undefined ? Number.MAX_SAFE_INTEGER : (runSeq.get(before) ?? 0);
      const filter = { factory, name: automation ?? null, label: state ?? null, limit, beforeSeq };
      return runs.all(filter).map(runOf);
    },
    findRun: id => runById.all(id).map(runOf)[0],
    runsOfDelivery: deliveryId => runsByDelivery.all(deliveryId).map(runOf),
    readSnapshot: digest => snapshot.get(digest),
    close: () => database.close(),
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
