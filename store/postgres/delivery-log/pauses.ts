import type { Pool, PoolClient } from 'pg';
import { releasesMax } from '../../delivery-log/run-flow.ts';
import type { AsyncVerbTable } from '../../delivery-log/thread/wire.ts';
import type { Pause } from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { toColumns, toStorableText } from '../connection/text.ts';

/** Pauses automations. */
export function preparePauseVerbs(pool: Pool) {
  return {
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
      // Its name comes from anybody: nothing has found it before.
      return (await pool.query(text, [factory, toStorableText(automation), nowMs])).rowCount === 1;
    },
  } satisfies Partial<AsyncVerbTable>;
}

/** Whether a run, by its columns in `runs`, is of an automation that is paused at the time `$2`. */
export const isPausedRun = `EXISTS (SELECT FROM hookmill.pauses
  WHERE pauses.factory = runs.factory AND pauses.automation = runs.automation AND (until_ms IS NULL OR until_ms > $2))`;

/** Locks the pauses of due runs, and returns the IDs of the runs that still have one: whoever ends a pause waits for this. */
export async function lockPauses(
  client: PoolClient,
  runs: readonly { id: string; day: number }[],
): Promise<ReadonlySet<string>> {
  if (runs.length === 0) return new Set();
  const text = `
    SELECT id FROM hookmill.runs JOIN hookmill.pauses USING (factory, automation)
    WHERE runs.day = ANY ($1) AND runs.id = ANY ($2) FOR SHARE OF pauses`;
  const { rows } = await client.query<{ id: string }>(text, [
    runs.map(({ day }) => day),
    runs.map(({ id }) => id),
  ]);
  return new Set(rows.map(({ id }) => id));
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
