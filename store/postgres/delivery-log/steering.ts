import type { Pool, PoolClient } from 'pg';
import { cancelsMax, releasesMax } from '../../delivery-log/run-flow.ts';
import type { AsyncVerbTable } from '../../delivery-log/thread/wire.ts';
import type { Pause, Run } from '../../ports/delivery-log.ts';
import { toColumns } from '../connection/text.ts';
import { inTransaction } from '../connection/transaction.ts';
import { runColumns } from './rows.ts';

/** What somebody does with runs and automations. */
export function prepareSteering(pool: Pool) {
  return {
    cancelRun: async ({ id, cancel }) => {
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
    },
    pauseAutomation: async ({ factory, automation, by, atMs, untilMs = null }) => {
      await pool.query(
        `INSERT INTO hookmill.pauses (factory, automation, by, at_ms, until_ms) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (factory, automation) DO UPDATE SET by = excluded.by, until_ms = excluded.until_ms,
          at_ms = CASE WHEN pauses.until_ms <= excluded.at_ms THEN excluded.at_ms ELSE pauses.at_ms END`,
        [factory, automation, by, atMs, untilMs],
      );
    },
    resumeAutomation: async ({ factory, automation, nowMs }) => {
      const text = `UPDATE hookmill.pauses SET until_ms = $3
        WHERE factory = $1 AND automation = $2 AND (until_ms IS NULL OR until_ms > $3)`;
      return (await pool.query(text, [factory, automation, nowMs])).rowCount === 1;
    },
  } satisfies Partial<AsyncVerbTable>;
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

/** Whether a run, by its columns in `runs`, is of an automation that is paused at the time `$2`. */
export const isPaused = `EXISTS (SELECT FROM hookmill.pauses
  WHERE pauses.factory = runs.factory AND pauses.automation = runs.automation AND (until_ms IS NULL OR until_ms > $2))`;

/** Parks due runs that are locked, as long as their automations are paused: whoever ends a pause waits for this. */
export async function parkPaused(
  client: PoolClient,
  runs: readonly { id: string; day: number }[],
): Promise<void> {
  const text = `
    WITH own AS (
      SELECT runs.day, runs.id FROM hookmill.runs JOIN hookmill.pauses USING (factory, automation)
      WHERE runs.day = ANY ($1) AND runs.id = ANY ($2) FOR SHARE OF pauses
    )
    UPDATE hookmill.runs SET state = 'parked', waits_for = 'paused' FROM own
    WHERE runs.day = own.day AND runs.id = own.id`;
  await client.query(text, [runs.map(({ day }) => day), runs.map(({ id }) => id)]);
}

/** Lets claims look again at runs whose pause has ended. */
export async function releaseResumed(pool: Pool, nowMs: number): Promise<void> {
  const text = 'SELECT factory, automation FROM hookmill.pauses WHERE until_ms <= $1';
  const { rows } = await pool.query<Pick<Pause, 'factory' | 'automation'>>(text, [nowMs]);
  for (const { factory, automation } of rows) {
    await inTransaction(pool, async client => {
      const pause = 'hookmill.pauses WHERE factory = $1 AND automation = $2 AND until_ms <= $3';
      const values = [factory, automation, nowMs];
      const locked = await client.query(`SELECT FROM ${pause} FOR UPDATE SKIP LOCKED`, values);
      if (locked.rowCount === 0) return;
      const released = await client.query(releasePaused, [factory, automation]);
      if (released.rowCount === 0) await client.query(`DELETE FROM ${pause}`, values);
    });
  }
}

const isParkedByPause = "state = 'parked' AND waits_for = 'paused'";
const releasePaused = `
  UPDATE hookmill.runs SET state = 'queued', waits_for = NULL WHERE ${isParkedByPause} AND (day, id) IN (
    SELECT day, id FROM hookmill.runs WHERE ${isParkedByPause} AND factory = $1 AND automation = $2 LIMIT ${releasesMax})`;

/** Selects the pauses that have not ended at `$2`, of one factory or of all. */
export const selectPauses = `
  SELECT factory, automation, by, at_ms AS "atMs", until_ms AS "untilMs" FROM hookmill.pauses
  WHERE ($1::text IS NULL OR factory = $1) AND (until_ms IS NULL OR until_ms > $2) ORDER BY at_ms, seq`;

export const selectTransferPauses = `
  SELECT seq AS position, automation AS id, factory, NULL AS snapshot, NULL AS bytes, automation, by, at_ms AS "atMs",
    until_ms AS "untilMs"
  FROM hookmill.pauses WHERE factory = $1 AND seq > $2 ORDER BY seq LIMIT $3`;

export const insertPauses = `
  INSERT INTO hookmill.pauses (factory, automation, by, at_ms, until_ms)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[])`;

export function pauseColumns(
  pauses: readonly (Omit<Pause, 'untilMs'> & { untilMs: number | null })[],
): unknown[][] {
  return toColumns(pauses, ['factory', 'automation', 'by', 'atMs', 'untilMs']);
}
