import type { PruneStep, VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import { mergeFirst } from './keys.ts';
import { isHolding, selectRunsOf } from './rows.ts';
import type { Snapshots } from './snapshots.ts';
import { prepareRemoveRunTallies, prepareRemoveTallies } from './tallies.ts';
import { prepareRemoveUnlogged } from './unlogged.ts';

/** @limit Most deliveries removed in one step of pruning: a new delivery waits a few ms for it at most. */
export const deliveriesPerPruneStepMax = 50;
/** @limit Most payload bytes removed in one step of pruning: a new delivery waits a few ms for it at most. */
const deliveryBytesPerPruneStepMax = 4 * 1024 * 1024;

/**
 * Prepares the steps of a pass over all webhooks, oldest rows first. Each call does one bounded step, within the
 * caller's transaction. A delivery with a queued or running run stays, whatever its age, or with one that holds others.
 */
export function preparePruneStep(database: SqliteDatabase, snapshots: Snapshots): VerbTable['pruneStep'] {
  const selectNextUid = database.prepareColumn<[string], string | null>(
    'SELECT min(uid) FROM series WHERE uid > ?',
  );
  const selectOld = prepareSelectOld(database);
  const removeUnlogged = prepareRemoveUnlogged(database);
  const removals = [prepareRemoveTallies(database), prepareRemoveRunTallies(database)];
  const removeTallies = (beforeHour: number) => removals.some(remove => remove(beforeHour));
  const deleteRuns = database.prepare<[number], { id: string; snapshot: number | null }>(
    'DELETE FROM runs WHERE delivery = ? RETURNING id, snapshot',
  );
  const forgetTaken = database.prepare<{ seq: number }>(`
    DELETE FROM run_deliveries WHERE delivery = @seq OR run IN (SELECT seq FROM runs WHERE delivery = @seq)`);
  const deleteDelivery = database.prepare<[number]>('DELETE FROM deliveries WHERE seq = ?');

  const remove = ({ seq, snapshot }: OldDelivery): string[] => {
    forgetTaken.run({ seq });
    const runs = deleteRuns.all(seq);
    deleteDelivery.run(seq);
    for (const used of [snapshot, ...runs.map(run => run.snapshot)]) {
      if (used !== null) snapshots.removeUses(used, 1);
    }
    return runs.map(run => run.id);
  };

  const toStart = (uid: string | null | undefined): UidPosition | undefined =>
    uid == null ? undefined : { uid, ...beforeAll };

  return step => {
    const after = (step.after as UidPosition | undefined) ?? { uid: '', ...beforeAll };
    // No webhook has the empty UID: there, counts of requests without a row and tallies are removed.
    const { keepSinceMs, keepTalliesSinceHour = 0 } = step;
    if (after.uid === '' && (removeUnlogged(keepSinceMs) || removeTallies(keepTalliesSinceHour)))
      return { deliveries: 0, runIds: [], next: after };
    const position = after.uid === '' ? toStart(selectNextUid.get('')) : after;
    if (!position) return { deliveries: 0, runIds: [] };
    const old = withinBytes(selectOld(position, step));
    const unused = old.filter(delivery => !delivery.isNeeded);
    const runIds = unused.flatMap(remove);
    snapshots.forgetRows();
    const last = old.at(-1);
    const next = last
      ? { uid: position.uid, atMs: last.atMs, seq: last.seq }
      : toStart(selectNextUid.get(position.uid));
    return { deliveries: unused.length, runIds, ...(next && { next }) };
  };
}

/** Finds the oldest deliveries of a webhook after a position that need not stay, as many as one step removes. */
function prepareSelectOld(database: SqliteDatabase) {
  const selectSeries = database.prepareColumn<[string], number>('SELECT key FROM series WHERE uid = ?');
  const selectNewest = database.prepare<[number, number, number, number], RowPosition>(`
    SELECT at_ms AS atMs, seq FROM deliveries WHERE series = ? AND (at_ms, seq) > (?, ?)
    ORDER BY at_ms DESC, seq DESC LIMIT ?`);
  const selectOld = database.prepare<[number, number, number, number, number, number, number], OldDelivery>(`
    SELECT seq, at_ms AS atMs, size, snapshot, EXISTS (
      SELECT 1 FROM runs WHERE seq IN (${selectRunsOf('deliveries.seq')}) AND (state IN ('queued', 'running') OR ${isHolding})) AS isNeeded
    FROM deliveries
    WHERE series = ? AND at_ms < ? AND (at_ms, seq) > (?, ?) AND (at_ms, seq) < (?, ?)
    ORDER BY at_ms, seq LIMIT ?`);

  return (
    { uid, atMs, seq }: UidPosition,
    { keepNewest, keepSinceMs }: PruneStep,
  ): readonly OldDelivery[] => {
    const series = selectSeries.all(uid);
    const newestMax = Math.max(1, keepNewest);
    const newest = mergeFirst<number, RowPosition>(
      series,
      newestMax,
      (a, b) => -inOrder(a, b),
      (key, end = beforeAll) => selectNewest.all(key, end.atMs, end.seq, newestMax),
    );
    // The oldest of the rows that always stay.
    const kept = newest[newestMax - 1];
    if (!kept) return [];
    const limit = deliveriesPerPruneStepMax;
    return mergeFirst<number, OldDelivery>(series, limit, inOrder, (key, end: RowPosition = kept) =>
      selectOld.all(key, keepSinceMs, atMs, seq, end.atMs, end.seq, limit),
    );
  };
}

const beforeAll: RowPosition = { atMs: Number.MIN_SAFE_INTEGER, seq: 0 };

function inOrder(a: RowPosition, b: RowPosition): number {
  return a.atMs - b.atMs || a.seq - b.seq;
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
  readonly isNeeded: number;
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
