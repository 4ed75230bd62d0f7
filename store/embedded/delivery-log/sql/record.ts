import type Database from 'better-sqlite3';
import type {
  AcceptedRow,
  DeliveryRow,
  Duplicate,
  UnidentifiedRow,
} from '../../../delivery-log-thread/wire.ts';
import type { DeliveryColumns } from '../../../stored-rows.ts';
import type { Snapshots } from './snapshots.ts';

export interface RecordedRows {
  readonly duplicates: readonly Duplicate[];
  readonly runsQueued: boolean;
}

/** Writes a batch's rows in their order, within the caller's transaction. */
export type RecordDeliveries = (rows: readonly DeliveryRow[], payloads: ArrayBuffer) => RecordedRows;

export function prepareRecordDeliveries(database: Database.Database, snapshots: Snapshots): RecordDeliveries {
  const insert = prepareInsertDelivery(database);
  const recordAccepted = prepareRecordAccepted(database, insert);
  const storeSnapshot = ({ factory, appliedState }: DeliveryRow): number | null =>
    appliedState ? snapshots.storeApplied(factory, appliedState) : null;

  return (rows, payloads) => {
    const duplicates: Duplicate[] = [];
    let runsQueued = false;
    let offset = 0;
    for (const [index, row] of rows.entries()) {
      const columns = toColumns(row, storeSnapshot(row));
      if (row.outcome !== 'Accepted') {
        insert.run(columns);
        continue;
      }
      const of = recordAccepted(row, columns, Buffer.from(payloads, offset, row.payloadBytes));
      offset += row.payloadBytes;
      if (of === undefined) runsQueued ||= row.runs.length > 0;
      else duplicates.push({ index, of });
    }
    return { duplicates, runsQueued };
  };
}

type InsertDelivery = Database.Statement<[InsertedColumns]>;

function prepareInsertDelivery(database: Database.Database): InsertDelivery {
  return database.prepare<[InsertedColumns]>(`
    INSERT INTO deliveries (id, factory, webhook, uid, at_ms, size, outcome, identity, identity_source,
      content_digest, authenticated_by, reason, duplicate_of, snapshot, headers)
    VALUES (@id, @factory, @webhook, @uid, @atMs, @size, @outcome, @identity, @identitySource,
      @contentDigest, @authenticatedBy, @reason, @duplicateOf, @snapshot, @headers)
    ON CONFLICT (uid, identity, identity_source) WHERE outcome = 'Accepted' DO NOTHING
    ON CONFLICT (uid, content_digest) WHERE content_digest IS NOT NULL DO NOTHING`);
}

/** Returns the original's id if the identity or content was accepted before. Unique indexes decide that, on insert. */
function prepareRecordAccepted(database: Database.Database, insert: InsertDelivery) {
  const selectByIdentity = database
    .prepare<[string, string, string], string>(
      `SELECT id FROM deliveries WHERE uid = ? AND identity = ? AND identity_source = ? AND outcome = 'Accepted'`,
    )
    .pluck();
  const selectByContent = database
    .prepare<[string, string | null], string>(
      'SELECT id FROM deliveries WHERE uid = ? AND content_digest = ?',
    )
    .pluck();
  const insertPayload = database.prepare<[number | bigint, Uint8Array]>(
    'INSERT INTO payloads (delivery, bytes) VALUES (?, ?)',
  );
  const insertRun = database.prepare<
    [string, number | bigint, string, string, number | null, number, number]
  >(`
    INSERT INTO runs (id, delivery, factory, automation, replay, snapshot, not_before_ms, created_at_ms)
    VALUES (?, ?, ?, ?, 0, ?, ?, ?)`);

  const recordDuplicate = (row: AcceptedRow, columns: InsertedColumns): string => {
    const original =
      selectByIdentity.get(row.uid, row.identity, row.identitySource) ??
      selectByContent.get(row.uid, columns.contentDigest);
    if (original === undefined) throw new Error(`the delivery ${row.id} conflicts with no other delivery`);
    const kept = { contentDigest: null, headers: null, duplicateOf: original };
    insert.run({ ...columns, outcome: 'Duplicate', ...kept });
    return original;
  };

  return (row: AcceptedRow, columns: InsertedColumns, payload: Uint8Array): string | undefined => {
    const { changes, lastInsertRowid: delivery } = insert.run(columns);
    if (changes === 0) return recordDuplicate(row, columns);
    insertPayload.run(delivery, payload);
    for (const run of row.runs) {
      insertRun.run(run.id, delivery, row.factory, run.automation, columns.snapshot, row.atMs, row.atMs);
    }
    return undefined;
  };
}

interface InsertedColumns extends DeliveryColumns {
  readonly snapshot: number | null;
}

function toColumns(row: AcceptedRow | UnidentifiedRow, snapshot: number | null): InsertedColumns {
  const accepted = row.outcome === 'Accepted' ? row : undefined;
  return {
    id: row.id,
    factory: row.factory,
    webhook: row.webhook,
    uid: row.uid,
    atMs: row.atMs,
    size: row.size,
    outcome: row.outcome,
    identity: accepted?.identity ?? null,
    identitySource: accepted?.identitySource ?? null,
    contentDigest: accepted?.contentDigest ?? null,
    authenticatedBy: row.authenticatedBy ?? null,
    reason: row.outcome === 'Accepted' ? null : (row.reason ?? null),
    duplicateOf: null,
    snapshot,
    headers: accepted?.headers ?? null,
  };
}
