import type { Pool } from 'pg';
import { cancelsMax } from '../../delivery-log/run-flow.ts';
import type { AsyncVerbTable } from '../../delivery-log/thread/wire.ts';
import type { Run } from '../../ports/delivery-log.ts';
import { runColumns } from './rows.ts';

/** Cancels a run, or asks the daemon that has it to end it. */
export function prepareCancelRun(pool: Pool): AsyncVerbTable['cancelRun'] {
  return async ({ id, cancel }) => {
    const json = JSON.stringify(cancel);
    // Nothing of a run that was never claimed can be at work.
    const cancelled = await pool.query(
      `UPDATE hookmill.runs SET state = 'cancelled', cancel = $2, finished_at_ms = $3, waits_for = NULL
        WHERE id = $1 AND state IN ('queued', 'parked') AND claims = 0`,
      [id, json, cancel.atMs],
    );
    if (cancelled.rowCount === 1) return 'cancelled';
    const requested = await pool.query(
      `UPDATE hookmill.runs SET cancel = coalesce(cancel, $2) WHERE id = $1 AND state IN ('queued', 'parked', 'running')`,
      [id, json],
    );
    return requested.rowCount === 1 ? 'requested' : 'ended';
  };
}

/**
 * Claims the runs to cancel that no daemon has, each by a statement of its own, because they may be in lanes. Returns them,
 * and the IDs of those that this daemon has.
 */
export async function takeToCancel(
  pool: Pool,
  claimedBy: string,
): Promise<{ readonly taken: readonly Run[]; readonly own: readonly string[] }> {
  const isToCancel = "cancel IS NOT NULL AND state IN ('queued', 'parked', 'running')";
  const { rows } = await pool.query<{ id: string; isOwn: boolean }>(
    `SELECT id, claimed_by IS NOT NULL AS "isOwn" FROM hookmill.runs
    WHERE ${isToCancel} AND (claimed_by IS NULL OR claimed_by = $1) LIMIT ${cancelsMax}`,
    [claimedBy],
  );
  const taken: Run[] = [];
  for (const { id, isOwn } of rows) {
    if (isOwn) continue;
    const text = `
      WITH runs AS (
        UPDATE hookmill.runs SET state = 'running', claims = claims + 1, claimed_by = $2, waits_until_ms = NULL, waits_for = NULL
        WHERE id = $1 AND ${isToCancel} AND claimed_by IS NULL
          AND EXISTS (SELECT FROM hookmill.replicas WHERE replicas.id = $2 AND lease_until > clock_timestamp())
        RETURNING *
      )
      SELECT ${runColumns} FROM runs LEFT JOIN hookmill.snapshots ON key = snapshot`;
    taken.push(...(await pool.query<Run>(text, [id, claimedBy])).rows);
  }
  return { taken, own: rows.filter(({ isOwn }) => isOwn).map(({ id }) => id) };
}
