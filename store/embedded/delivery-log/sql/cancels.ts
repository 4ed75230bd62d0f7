import { cancelsMax } from '../../../delivery-log/run-flow.ts';
import type { VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { RunClaim } from '../../../ports/delivery-log.ts';
import { type Lanes, type RunLanes, selectLanes } from './lanes.ts';

/** Cancels runs, and tells claims which of them a daemon must end. */
export interface Cancels extends Pick<VerbTable, 'cancelRun'> {
  /** Claims the runs to cancel that no daemon has. Returns their keys, and the IDs of those that this daemon has. */
  takeToCancel(claim: RunClaim): { readonly taken: readonly number[]; readonly own: readonly string[] };
}

export function prepareCancels(database: SqliteDatabase, lanes: Lanes): Cancels {
  // Nothing of a run that was never claimed can be at work.
  const cancel = database.prepare<{ id: string; cancel: string; atMs: number }, RunLanes>(`
    UPDATE runs SET state = 'cancelled', cancel = @cancel, finished_at_ms = @atMs, parked = NULL, gathers = NULL
    WHERE id = @id AND state = 'queued' AND claims = 0 RETURNING ${selectLanes}`);
  const request = database.prepare<{ id: string; cancel: string }>(`
    UPDATE runs SET cancel = coalesce(cancel, @cancel) WHERE id = @id AND state IN ('queued', 'running')`);
  const isToCancel = "cancel IS NOT NULL AND state IN ('queued', 'running')";
  const selectFree = database.prepareColumn<[], number>(
    `SELECT seq FROM runs WHERE ${isToCancel} AND claimed_by IS NULL LIMIT ${cancelsMax}`,
  );
  const selectOwn = database.prepareColumn<[string], string>(
    `SELECT id FROM runs WHERE ${isToCancel} AND claimed_by = ?`,
  );
  const take = database.prepare<[string, number]>(`
    UPDATE runs SET state = 'running', claims = claims + 1, claimed_by = ?, waits_until_ms = NULL, parked = NULL
    WHERE seq = ?`);
  return {
    cancelRun: ({ id, cancel: given }) => {
      const row = { id, cancel: JSON.stringify(given) };
      const [cancelled] = cancel.all({ ...row, atMs: given.atMs });
      if (!cancelled) return request.run(row).changes > 0 ? 'requested' : 'ended';
      // It may have been the one that was let go on when a place became free.
      lanes.release(cancelled);
      return 'cancelled';
    },
    takeToCancel: ({ daemonId }) => {
      const own = selectOwn.all(daemonId);
      const taken = selectFree.all();
      for (const seq of taken) take.run(daemonId, seq);
      return { taken, own };
    },
  };
}
