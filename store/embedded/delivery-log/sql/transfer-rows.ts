import { hasEnded, runStates } from '../../../../schema/delivery.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import {
  deliverySizeMax,
  pageBytesMax,
  rowsPerPageMax,
  type TransferDelivery,
  type TransferRun,
  type TransferSnapshot,
} from '../../../ports/transfer.ts';
import { makeContentKey, makeIdentityKey, mergeFirst } from './keys.ts';
import { prepareNoteEnd } from './note-end.ts';
import { openSeries } from './series.ts';

/** A run as SQLite keeps it: without its output and without booleans. */
export type StoredTransferRun = Omit<TransferRun, Flag | 'bytes'> & { readonly [F in Flag]: number };

type Flag = 'replay' | 'manual' | 'stopped' | 'dismissed';

export function readTransferDeliveries(
  database: SqliteDatabase,
  factory: string,
  after: number,
): TransferDelivery[] {
  const series = database.prepareColumn<[string], number>('SELECT key FROM series WHERE factory = ?');
  const selectSeqs = database.prepareColumn<[number, number, number, number], number>(selectSeqsOfSeries);
  const seqs = mergeFirst<number, number>(
    series.all(factory),
    rowsPerPageMax,
    (a, b) => a - b,
    (key, end = Number.MAX_SAFE_INTEGER) => selectSeqs.all(key, after, end, rowsPerPageMax),
  );
  // One statement for the page: one for each row takes 28 µs for it instead of 2.
  const select = database.prepare<[string], TransferDelivery>(selectTransferDeliveries);
  const page: TransferDelivery[] = [];
  let bytes = 0;
  for (const row of select.iterate(JSON.stringify(seqs))) {
    page.push(row);
    bytes += row.bytes?.length ?? 0;
    if (bytes >= pageBytesMax) break;
  }
  return page;
}

export function readTransferRuns(
  database: SqliteDatabase,
  factory: string,
  after: number,
): StoredTransferRun[] {
  const selectSeqs = database.prepareColumn<[string, string, number, number, number], number>(
    selectSeqsOfRuns,
  );
  const seqs = mergeFirst<string, number>(
    runStates,
    rowsPerPageMax,
    (a, b) => a - b,
    (state, end = Number.MAX_SAFE_INTEGER) => selectSeqs.all(factory, state, after, end, rowsPerPageMax),
  );
  return database.prepare<[string], StoredTransferRun>(selectTransferRuns).all(JSON.stringify(seqs));
}

export function listLoggedFactories(database: SqliteDatabase): string[] {
  return database
    .prepareColumn<[], string>(
      'SELECT factory FROM series UNION SELECT factory FROM unlogged UNION SELECT factory FROM pauses',
    )
    .all()
    .sort();
}

export function countIdentities(database: SqliteDatabase): number {
  const count = 'SELECT count(*) FROM deliveries WHERE identity_key IS NOT NULL';
  return database.prepareColumn<[], number>(count).get() ?? 0;
}

/** Appends deliveries in one transaction. */
export function writeTransferDeliveries(
  database: SqliteDatabase,
  rows: readonly TransferDelivery[],
  snapshots: readonly TransferSnapshot[],
): void {
  const insert = database.prepare<[TransferDelivery & DeliveryKeys]>(insertDelivery);
  const series = openSeries(database);
  const countUse = database.prepare<[string | null]>(countSnapshotUse);
  database.transact(() => {
    storeSnapshots(database, snapshots);
    for (const row of rows) {
      insert.run({ ...row, series: series.store(row, row.outcome), ...makeUniqueKeys(row) });
      countUse.run(row.snapshot);
    }
  });
}

interface UniqueKeys {
  readonly identityKey: Uint8Array | null;
  readonly contentKey: Uint8Array | null;
}

interface DeliveryKeys extends UniqueKeys {
  readonly series: number;
}

function makeUniqueKeys({
  uid,
  outcome,
  identitySource,
  identity,
  contentDigest,
}: TransferDelivery): UniqueKeys {
  const isIdentified = outcome === 'Accepted' && identitySource !== null && identity !== null;
  return {
    identityKey: isIdentified ? makeIdentityKey(uid, identitySource, identity) : null,
    contentKey: contentDigest === null ? null : makeContentKey(uid, contentDigest),
  };
}

/** Appends runs in one transaction. */
export function writeTransferRuns(
  database: SqliteDatabase,
  rows: readonly StoredTransferRun[],
  snapshots: readonly TransferSnapshot[],
): void {
  const insert = database.prepare<[StoredTransferRun]>(insertRun);
  const noteEnd = prepareNoteEnd(database);
  const take = database.prepare<[{ run: number; taken: string }]>(insertTaken);
  const countUse = database.prepare<[string | null]>(countSnapshotUse);
  database.transact(() => {
    storeSnapshots(database, snapshots);
    for (const row of rows) {
      const { lastInsertRowid: run } = insert.run(row);
      if (hasEnded(row.state)) noteEnd({ ...row, notify: null });
      if (row.taken !== null) take.run({ run, taken: row.taken });
      countUse.run(row.snapshot);
    }
  });
}

function storeSnapshots(database: SqliteDatabase, snapshots: readonly TransferSnapshot[]): void {
  const insert = database.prepare<[TransferSnapshot]>(
    'INSERT INTO snapshots (digest, json) VALUES (@digest, @json) ON CONFLICT DO NOTHING',
  );
  for (const snapshot of snapshots) insert.run(snapshot);
}

const selectSeqsOfSeries =
  'SELECT seq FROM deliveries WHERE series = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ?';

const selectSeqsOfRuns =
  'SELECT seq FROM runs WHERE factory = ? AND state = ? AND seq > ? AND seq < ? ORDER BY seq LIMIT ?';

const selectTransferDeliveries = `
  SELECT seq AS position, id, factory, webhook, uid, at_ms AS atMs, min(size, ${deliverySizeMax}) AS size, outcome,
    identity, identity_source AS identitySource, content_digest AS contentDigest, authenticated_by AS authenticatedBy,
    verified_with AS verifiedWith,
    reason, duplicate_of AS duplicateOf, digest AS snapshot, headers, form, payload AS bytes
  FROM deliveries JOIN series ON series.key = series LEFT JOIN snapshots ON snapshots.key = snapshot
  WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq`;

const insertDelivery = `
  INSERT INTO deliveries (id, series, at_ms, size, snapshot, identity, identity_key, content_digest, content_key, reason,
    duplicate_of, headers, form, payload)
  VALUES (@id, @series, @atMs, @size, (SELECT key FROM snapshots WHERE digest = @snapshot), @identity, @identityKey,
    @contentDigest, @contentKey, @reason, @duplicateOf, @headers, @form, @bytes)`;

const countSnapshotUse = `
  INSERT INTO snapshot_uses SELECT key, 1 FROM snapshots WHERE digest = ?
  ON CONFLICT DO UPDATE SET uses = uses + 1`;

const selectTransferRuns = `
  SELECT runs.seq AS position, runs.id, runs.factory, webhook, deliveries.id AS deliveryId, at_ms AS deliveryAtMs,
    automation, replay, coalesce(manual, 0) AS manual, digest AS snapshot, state, attempts, claims, not_before_ms AS notBeforeMs, created_at_ms AS createdAtMs,
    started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs, claimed_by AS claimedBy,
    waits_until_ms AS waitsUntilMs, report, error, cancel, afterwards, again_of AS againOf, history, interrupted, flow,
    coalesce(stopped, 0) AS stopped, coalesce(dismissed, 0) AS dismissed, iif(delivery_count IS NULL, NULL, (
      SELECT json_group_array(taken.id ORDER BY taken.id) FROM run_deliveries JOIN deliveries AS taken ON taken.seq = run_deliveries.delivery
      WHERE run = runs.seq)) AS taken
  FROM runs JOIN deliveries ON deliveries.seq = delivery JOIN series ON series.key = series
    LEFT JOIN snapshots ON snapshots.key = runs.snapshot
  WHERE runs.seq IN (SELECT value FROM json_each(?)) ORDER BY runs.seq`;

const insertRun = `
  INSERT INTO runs (id, delivery, factory, automation, replay, manual, snapshot, state, attempts, claims, not_before_ms, created_at_ms,
    started_at_ms, finished_at_ms, claimed_by, waits_until_ms, report, error, cancel, afterwards, again_of, history, interrupted, flow, stopped, dismissed, delivery_count)
  VALUES (@id, (SELECT seq FROM deliveries WHERE id = @deliveryId), @factory, @automation, @replay, nullif(@manual, 0),
    (SELECT key FROM snapshots WHERE digest = @snapshot), @state, @attempts, @claims, @notBeforeMs, @createdAtMs, @startedAtMs,
    @finishedAtMs, @claimedBy, @waitsUntilMs, @report, @error, @cancel, @afterwards, @againOf, @history, @interrupted, @flow, nullif(@stopped, 0), nullif(@dismissed, 0), json_array_length(@taken))`;

const insertTaken = `
  INSERT INTO run_deliveries (run, delivery)
  SELECT @run, deliveries.seq FROM json_each(@taken) JOIN deliveries ON deliveries.id = value ORDER BY deliveries.seq`;
