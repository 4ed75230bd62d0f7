import { toReleasedIdentity } from '../../../../schema/delivery.ts';
import { deliveriesPerRunMax, deliveryBytesPerRunMax } from '../../../delivery-log/run-flow.ts';
import type {
  AcceptedRow,
  DeliveryRow,
  Duplicate,
  UnidentifiedRow,
} from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { RunFlow } from '../../../ports/delivery-log.ts';
import { makeContentKey, makeIdentityKey } from './keys.ts';
import type { RunDeps } from './runs.ts';
import type { Series } from './series.ts';
import type { Snapshots } from './snapshots.ts';

interface RecordedRows {
  readonly duplicates: readonly Duplicate[];
  readonly runsQueued: boolean;
}

/** Writes a batch's rows in their order, within the caller's transaction. */
type RecordDeliveries = (rows: readonly DeliveryRow[], payloads: ArrayBuffer) => RecordedRows;

export function prepareRecordDeliveries(
  database: SqliteDatabase,
  { snapshots, series, supersede }: Pick<RunDeps, 'snapshots' | 'series' | 'supersede'>,
): RecordDeliveries {
  const gather = prepareGather(database, snapshots);
  const recordAccepted = prepareRecordAccepted(database, { series, gather, supersede });
  const recordDuplicate = prepareRecordDuplicate(database, series);
  const recordUnidentified = prepareRecordUnidentified(database, series);

  return (rows, payloads) => {
    const duplicates: Duplicate[] = [];
    const uses = new Map<number, number>();
    let runsQueued = false;
    let offset = 0;
    for (const [index, row] of rows.entries()) {
      const snapshot = row.appliedState ? snapshots.storeApplied(row.factory, row.appliedState) : null;
      let runs = 0;
      if (row.outcome !== 'Accepted') {
        recordUnidentified(row, snapshot);
      } else {
        const payload = new Uint8Array(payloads, offset, row.payloadBytes);
        offset += row.payloadBytes;
        if (recordAccepted(row, snapshot, payload)) runs = row.runs.length;
        else duplicates.push({ index, of: recordDuplicate(row, snapshot) });
      }
      // A run that took the delivery up counts too, because its earlier use has ended.
      if (snapshot !== null) uses.set(snapshot, (uses.get(snapshot) ?? 0) + 1 + runs);
      runsQueued ||= runs > 0;
    }
    for (const [snapshot, count] of uses) snapshots.addUses(snapshot, count);
    return { duplicates, runsQueued };
  };
}

type Snapshot = number | null;

// Parameters are given by position: an object with names costs a look-up for each of them.

/** Records a delivery with its runs; false if its identity or content was accepted before. Unique indexes decide that. */
function prepareRecordAccepted(
  database: SqliteDatabase,
  { series, gather, supersede }: Pick<RunDeps, 'series' | 'supersede'> & { readonly gather: Gather },
) {
  const insert = database.prepare(`
    INSERT INTO deliveries (id, series, at_ms, size, snapshot, identity, identity_key, content_digest, content_key,
      headers, form, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (identity_key) WHERE identity_key IS NOT NULL DO NOTHING
    ON CONFLICT (content_key) WHERE content_key IS NOT NULL DO NOTHING`);
  const insertRun = database.prepare(`
    INSERT INTO runs (id, delivery, factory, automation, replay, snapshot, not_before_ms, created_at_ms, flow)
    VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)`);
  const selectByIdentity = prepareSelectByIdentity(database);
  const releaseIdentity = prepareReleaseIdentity(database);
  return (row: AcceptedRow, snapshot: Snapshot, payload: Uint8Array): boolean => {
    if (row.sameForMs !== undefined) releaseIdentity(row, row.sameForMs);
    const bodyKey = bodyKeyOf(row);
    if (bodyKey && selectByIdentity.get(bodyKey) !== undefined) return false;
    const { id, factory, atMs, size, identity, contentDigest = null, headers, form = null } = row;
    const { changes, lastInsertRowid: delivery } = insert.run(
      id,
      series.store(row, 'Accepted'),
      atMs,
      size,
      snapshot,
      identity,
      identityKeyOf(row),
      contentDigest,
      contentKeyOf(row),
      headers,
      form,
      payload,
    );
    if (changes === 0) return false;
    for (const newRun of row.runs) {
      const { id: runId, automation, flow = null, burst } = newRun;
      const taken = { delivery, bytes: payload.length, snapshot, atMs };
      if (burst && gather.join(burst, taken)) continue;
      const { lastInsertRowid: run } = insertRun.run(
        runId,
        delivery,
        factory,
        automation,
        snapshot,
        atMs,
        atMs,
        flow,
      );
      if (burst) gather.begin(run, burst, taken);
      supersede(newRun, atMs);
    }
    return true;
  };
}

/** Records what remains of a delivery that was accepted before, and returns the original's id. */
function prepareRecordDuplicate(database: SqliteDatabase, series: Series) {
  const selectByIdentity = prepareSelectByIdentity(database);
  const selectByContent = database.prepareColumn<[Uint8Array | null], string>(
    'SELECT id FROM deliveries WHERE content_key = ?',
  );
  const insert = database.prepare(`
    INSERT INTO deliveries (id, series, at_ms, size, snapshot, identity, duplicate_of) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  return (row: AcceptedRow, snapshot: Snapshot): string => {
    const original =
      selectByIdentity.get(identityKeyOf(row)) ??
      selectByContent.get(contentKeyOf(row)) ??
      selectByIdentity.get(bodyKeyOf(row));
    if (original === undefined) throw new Error(`the delivery ${row.id} conflicts with no other delivery`);
    const { id, atMs, size, identity } = row;
    insert.run(id, series.store(row, 'Duplicate'), atMs, size, snapshot, identity, original);
    return original;
  };
}

/** Gives an earlier delivery with the identity of a new one another identity, unless it still is the same one. */
function prepareReleaseIdentity(database: SqliteDatabase) {
  const select = database.prepare<[Uint8Array, number, number], { seq: number; id: string }>(
    'SELECT seq, id FROM deliveries WHERE identity_key = ? AND abs(at_ms - ?) >= ?',
  );
  const update = database.prepare<[string, Uint8Array, number]>(
    'UPDATE deliveries SET identity = ?, identity_key = ? WHERE seq = ?',
  );
  return (row: AcceptedRow, sameForMs: number): void => {
    const earlier = select.get(identityKeyOf(row), row.atMs, sameForMs);
    if (!earlier) return;
    const identity = toReleasedIdentity(row.identity, earlier.id);
    update.run(identity, identityKeyOf({ ...row, identity }), earlier.seq);
  };
}

function prepareSelectByIdentity(database: SqliteDatabase) {
  return database.prepareColumn<[Uint8Array | null], string>(
    'SELECT id FROM deliveries WHERE identity_key = ?',
  );
}

function prepareRecordUnidentified(database: SqliteDatabase, series: Series) {
  const insert = database.prepare(
    'INSERT INTO deliveries (id, series, at_ms, size, snapshot, reason) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return (row: UnidentifiedRow, snapshot: Snapshot): void => {
    const { id, atMs, size, outcome, reason = null } = row;
    insert.run(id, series.store(row, outcome), atMs, size, snapshot, reason);
  };
}

function identityKeyOf({ uid, identitySource, identity }: AcceptedRow): Uint8Array {
  return makeIdentityKey(uid, identitySource, identity);
}

function bodyKeyOf({ uid, bodyIdentity }: AcceptedRow): Uint8Array | null {
  return bodyIdentity === undefined ? null : makeIdentityKey(uid, 'body', bodyIdentity);
}

function contentKeyOf({ uid, contentDigest }: AcceptedRow): Uint8Array | null {
  return contentDigest === undefined ? null : makeContentKey(uid, contentDigest);
}

type Burst = NonNullable<RunFlow['burst']>;

/** A delivery to take up. */
interface Taken {
  readonly delivery: number;
  readonly bytes: number;
  readonly snapshot: number | null;
  readonly atMs: number;
}

/** Lets a queued run take up the deliveries of its burst. At most one run of a burst lane gathers. */
interface Gather {
  /** Adds a delivery to the lane's run, which is due later then; false if none gathers, or the one that did is full. */
  join(burst: Burst, taken: Taken): boolean;
  /** Lets a run that was just recorded gather. */
  begin(run: number, burst: Burst, taken: Taken): void;
}

function prepareGather(database: SqliteDatabase, snapshots: Snapshots): Gather {
  const selectGathering = database.prepare<[string], Gathering>(`
    SELECT seq, created_at_ms AS sinceMs, delivery_count AS count, delivery_bytes AS bytes, snapshot
    FROM runs WHERE gathers = ?`);
  const begin = database.prepare<[string, number, number, number]>(
    'UPDATE runs SET gathers = ?, not_before_ms = ?, delivery_count = 1, delivery_bytes = ? WHERE seq = ?',
  );
  // It is due later, so a claim looks at it again then.
  const join = database.prepare<[number, number | null, number, number, number]>(`
    UPDATE runs SET delivery = ?, snapshot = ?, not_before_ms = ?, parked = NULL, delivery_count = delivery_count + 1,
      delivery_bytes = delivery_bytes + ?
    WHERE seq = ?`);
  const close = database.prepare<[number, number]>(
    'UPDATE runs SET gathers = NULL, not_before_ms = min(not_before_ms, ?), parked = NULL WHERE seq = ?',
  );
  const insert = database.prepare<[number, number]>(
    'INSERT INTO run_deliveries (run, delivery) VALUES (?, ?)',
  );
  return {
    begin(run, { lane, forMs }, { delivery, bytes, atMs }) {
      begin.run(lane, atMs + forMs, bytes, run);
      insert.run(run, delivery);
    },
    join({ lane, forMs, atMostMs }, { delivery, bytes, snapshot, atMs }) {
      const run = selectGathering.get(lane);
      if (!run) return false;
      const fits = run.bytes + bytes <= deliveryBytesPerRunMax;
      if (fits) {
        const dueMs = Math.min(atMs + forMs, run.sinceMs + atMostMs);
        join.run(delivery, snapshot, dueMs, bytes, run.seq);
        insert.run(run.seq, delivery);
        if (run.snapshot !== null) snapshots.addUses(run.snapshot, -1);
      }
      if (!fits || run.count + 1 === deliveriesPerRunMax) close.run(atMs, run.seq);
      return fits;
    },
  };
}

interface Gathering {
  readonly seq: number;
  readonly sinceMs: number;
  readonly count: number;
  readonly bytes: number;
  readonly snapshot: number | null;
}
