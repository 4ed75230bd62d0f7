import type Database from 'better-sqlite3';
import {
  deliverySizeMax,
  pageBytesMax,
  rowsPerPageMax,
  type TransferDelivery,
  type TransferRun,
  type TransferSnapshot,
} from '../../../transfer.ts';

/** A run as SQLite keeps it: without its output and without booleans. */
export type StoredTransferRun = Omit<TransferRun, 'replay' | 'bytes'> & { readonly replay: number };

export function readTransferDeliveries(
  database: Database.Database,
  factory: string,
  after: number,
): TransferDelivery[] {
  const rows = database.prepare<[string, number, number], TransferDelivery>(selectDeliveries);
  const page: TransferDelivery[] = [];
  let bytes = 0;
  for (const row of rows.iterate(factory, after, rowsPerPageMax)) {
    if (bytes >= pageBytesMax) break;
    bytes += row.bytes?.length ?? 0;
    page.push(row);
  }
  return page;
}

export function readTransferRuns(
  database: Database.Database,
  factory: string,
  after: number,
): StoredTransferRun[] {
  const rows = database.prepare<[string, number, number], StoredTransferRun>(selectRuns);
  return rows.all(factory, after, rowsPerPageMax);
}

export function listLoggedFactories(database: Database.Database): string[] {
  return database.prepare<[], string>(selectFactories).pluck().all().sort();
}

export function countIdentities(database: Database.Database): number {
  const count = "SELECT count(*) FROM deliveries WHERE outcome = 'Accepted'";
  return database.prepare<[], number>(count).pluck().get() ?? 0;
}

/** Appends deliveries in one transaction. */
export function writeTransferDeliveries(
  database: Database.Database,
  rows: readonly TransferDelivery[],
  snapshots: readonly TransferSnapshot[],
): void {
  const insert = database.prepare<[TransferDelivery]>(insertDelivery);
  const insertPayload = database.prepare<[number | bigint, Uint8Array]>(
    'INSERT INTO payloads (delivery, bytes) VALUES (?, ?)',
  );
  database.transaction(() => {
    storeSnapshots(database, snapshots);
    for (const row of rows) {
      const { lastInsertRowid } = insert.run(row);
      if (row.bytes) insertPayload.run(lastInsertRowid, row.bytes);
    }
  })();
}

/** Appends runs in one transaction. */
export function writeTransferRuns(
  database: Database.Database,
  rows: readonly StoredTransferRun[],
  snapshots: readonly TransferSnapshot[],
): void {
  const insert = database.prepare<[StoredTransferRun]>(insertRun);
  database.transaction(() => {
    storeSnapshots(database, snapshots);
    for (const row of rows) insert.run(row);
  })();
}

function storeSnapshots(database: Database.Database, snapshots: readonly TransferSnapshot[]): void {
  const insert = database.prepare<[TransferSnapshot]>(
    'INSERT INTO snapshots (digest, json) VALUES (@digest, @json) ON CONFLICT DO NOTHING',
  );
  for (const snapshot of snapshots) insert.run(snapshot);
}

const selectDeliveries = `
  SELECT seq AS position, id, factory, webhook, uid, at_ms AS atMs, min(size, ${deliverySizeMax}) AS size,
    outcome, identity, identity_source AS identitySource, content_digest AS contentDigest, authenticated_by AS authenticatedBy, reason,
    duplicate_of AS duplicateOf, digest AS snapshot, headers, bytes
  FROM deliveries LEFT JOIN payloads ON delivery = seq LEFT JOIN snapshots ON key = snapshot
  WHERE factory = ? AND seq > ? ORDER BY seq LIMIT ?`;

const insertDelivery = `
  INSERT INTO deliveries (id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source, content_digest,
    authenticated_by, reason, duplicate_of, headers, snapshot)
  VALUES (@id, @factory, @webhook, @uid, @atMs, @size, @outcome, @identity, @identitySource, @contentDigest,
    @authenticatedBy, @reason, @duplicateOf, @headers, (SELECT key FROM snapshots WHERE digest = @snapshot))`;

const selectRuns = `
  SELECT runs.seq AS position, runs.id, runs.factory, webhook, deliveries.id AS deliveryId, at_ms AS deliveryAtMs,
    automation, replay, digest AS snapshot, state, attempts, not_before_ms AS notBeforeMs, created_at_ms AS createdAtMs,
    started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs, claimed_by AS claimedBy, error
  FROM runs JOIN deliveries ON deliveries.seq = delivery LEFT JOIN snapshots ON key = runs.snapshot
  WHERE runs.factory = ? AND runs.seq > ? ORDER BY runs.seq LIMIT ?`;

const insertRun = `
  INSERT INTO runs (id, delivery, factory, automation, replay, snapshot, state, attempts, not_before_ms, created_at_ms,
    started_at_ms, finished_at_ms, claimed_by, error)
  VALUES (@id, (SELECT seq FROM deliveries WHERE id = @deliveryId), @factory, @automation, @replay,
    (SELECT key FROM snapshots WHERE digest = @snapshot), @state, @attempts, @notBeforeMs, @createdAtMs, @startedAtMs,
    @finishedAtMs, @claimedBy, @error)`;

/** Each factory, found by jumps through the index. */
const selectFactories = `
  WITH RECURSIVE factories (name) AS (
    SELECT min(factory) FROM deliveries
    UNION ALL
    SELECT (SELECT min(factory) FROM deliveries WHERE factory > name) FROM factories WHERE name IS NOT NULL
  )
  SELECT name FROM factories WHERE name IS NOT NULL`;
