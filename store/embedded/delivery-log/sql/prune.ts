import type Database from 'better-sqlite3';
import type { PruneStep, VerbTable } from '../../../delivery-log-thread/wire.ts';
import type { Snapshots } from './snapshots.ts';

/** @limit Most deliveries removed in one step of pruning: a new delivery waits a few ms for it at most. */
export const deliveriesPerPruneStepMax = 50;
/** @limit Most payload bytes removed in one step of pruning: a new delivery waits a few ms for it at most. */
const deliveryBytesPerPruneStepMax = 4 * 1024 * 1024;

/**
 * Prepares the steps of a pass over all webhooks, oldest rows first. Each call does one bounded step, within the
 * caller's transaction. A delivery with a queued or running run stays, whatever its age.
 */
export function preparePruneStep(database: Database.Database, snapshots: Snapshots): VerbTable['pruneStep'] {
  const selectNextUid = database
    .prepare<[string], string | null>('SELECT min(uid) FROM deliveries WHERE uid > ?')
    .pluck();
  // The oldest of the `keepNewest` rows that always stay; no row if there are fewer.
  const selectOldestKept = database.prepare<{ uid: string; keepNewest: number }, RowPosition>(`
    SELECT at_ms AS atMs, seq FROM deliveries WHERE uid = @uid
    ORDER BY at_ms DESC, seq DESC LIMIT 1 OFFSET @keepNewest - 1`);
  const selectOld = database.prepare<
    UidPosition & { keptAtMs: number; keptSeq: number; keepSinceMs: number; limit: number },
    OldDelivery
  >(`
    SELECT seq, at_ms AS atMs, size, snapshot, EXISTS (
      SELECT 1 FROM runs WHERE delivery = deliveries.seq AND state IN ('queued', 'running')) AS busy
    FROM deliveries
    WHERE uid = @uid AND at_ms < @keepSinceMs
      AND (at_ms, seq) > (@atMs, @seq) AND (at_ms, seq) < (@keptAtMs, @keptSeq)
    ORDER BY at_ms, seq LIMIT @limit`);
  const deleteRuns = database.prepare<[number], { id: string; snapshot: number | null }>(
    'DELETE FROM runs WHERE delivery = ? RETURNING id, snapshot',
  );
  const deletePayload = database.prepare<[number]>('DELETE FROM payloads WHERE delivery = ?');
  const deleteDelivery = database.prepare<[number]>('DELETE FROM deliveries WHERE seq = ?');

  const oldDeliveries = (position: UidPosition, { keepNewest, keepSinceMs }: PruneStep): OldDelivery[] => {
    const kept = selectOldestKept.get({ uid: position.uid, keepNewest: Math.max(1, keepNewest) });
    if (!kept) return [];
    const limit = deliveriesPerPruneStepMax;
    return selectOld.all({ ...position, keptAtMs: kept.atMs, keptSeq: kept.seq, keepSinceMs, limit });
  };

  const remove = (delivery: OldDelivery): string[] => {
    const runs = deleteRuns.all(delivery.seq);
    deletePayload.run(delivery.seq);
    deleteDelivery.run(delivery.seq);
    for (const snapshot of new Set([delivery.snapshot, ...runs.map(run => run.snapshot)])) {
      if (snapshot !== null) snapshots.removeUnused(snapshot);
    }
    return runs.map(run => run.id);
  };

  const toStart = (uid: string | null | undefined): UidPosition | undefined =>
    uid == null ? undefined : { uid, atMs: Number.MIN_SAFE_INTEGER, seq: 0 };

  return step => {
    const position = (step.after as UidPosition | undefined) ?? toStart(selectNextUid.get(''));
    if (!position) return { deliveries: 0, runIds: [] };
    const old = withinBytes(oldDeliveries(position, step));
    const idle = old.filter(delivery => !delivery.busy);
    const runIds = idle.flatMap(remove);
    snapshots.forgetRows();
    const last = old.at(-1);
    const next = last
      ? { uid: position.uid, atMs: last.atMs, seq: last.seq }
      : toStart(selectNextUid.get(position.uid));
    return next ? { deliveries: idle.length, runIds, next } : { deliveries: idle.length, runIds };
  };
}

/** A place in the deliveries of a webhook. */
interface UidPosition extends RowPosition {
  readonly uid: string;
}

interface RowPosition {
  readonly atMs: number;
  readonly seq: number;
}

interface OldDelivery extends RowPosition {
  readonly size: number;
  readonly snapshot: number | null;
  readonly busy: number;
}

/** The first deliveries within the step's bound of bytes, and at least one. */
function withinBytes(deliveries: readonly OldDelivery[]): readonly OldDelivery[] {
  let bytes = 0;
  const end = deliveries.findIndex(({ size }, index) => {
    bytes += size;
    return index > 0 && bytes > deliveryBytesPerPruneStepMax;
  });
  return end === -1 ? deliveries : deliveries.slice(0, end);
}
