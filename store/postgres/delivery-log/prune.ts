import type { Pool } from 'pg';
import type { PruneRule } from '../../delivery-log.ts';
import type { PrunedStep } from '../../delivery-log-thread/wire.ts';
import { inTransaction } from '../connection/transaction.ts';
import { toDay } from './partitions.ts';
import type { AsyncVerbs } from './verbs.ts';

/** @limit Rows deleted in one step of pruning: its transaction is short, and what it leaves dead is soon reused. */
const rowsPerStepMax = 5_000;

/** @limit Difference to the clock of the database that retention ignores, in ms: it is counted in days. */
const clockDifferenceMs = 60_000;
/** @limit Wait for long transactions of others before a partition can be detached, in ms: shorter than a daemon may take to stop. */
const detachMs = 6_000;

/** The phases of a pass, in order. Each is repeated until it finds nothing to do. */
const phases = ['days', 'identities', 'kept', 'outputs', 'snapshots'] as const;
type Phase = (typeof phases)[number];

/** Does one step. Returns the number of deliveries that it removed; undefined if the phase has nothing more to do. */
type Step = (pool: Pool, cutoffDay: number, rule: PruneRule) => Promise<number | undefined>;

/**
 * Prepares the steps of a pass. A day whose deliveries are all past their retention is dropped as a whole; what must stay
 * longer is carried over to partition 0 first. Several replicas may do this at the same time: each step finds what is left.
 */
export function preparePruning(pool: Pool): AsyncVerbs['pruneStep'] {
  return async ({ after, ...given }): Promise<PrunedStep> => {
    const { phase } = (after as { readonly phase: Phase } | undefined) ?? { phase: phases[0] };
    const rule = { ...given, keepSinceMs: given.keepSinceMs - (await readAheadMs(pool)) };
    const removed = await steps[phase](pool, toDay(rule.keepSinceMs), rule);
    const next = removed === undefined ? phases[phases.indexOf(phase) + 1] : phase;
    return { deliveries: removed ?? 0, ...(next && { next: { phase: next } }) };
  };
}

const steps: Readonly<Record<Phase, Step>> = {
  days: async (pool, cutoffDay, rule) => {
    const [day] = await listOldDays(pool, cutoffDay);
    return day === undefined ? undefined : removeDay(pool, day, rule);
  },
  identities: async (pool, cutoffDay) => {
    const text = `DELETE FROM hookmill.accepted WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.accepted WHERE day BETWEEN 1 AND $1 - 1 LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [cutoffDay]), 0);
  },
  kept: removeKept,
  outputs: async (pool, cutoffDay) => {
    const text = `DELETE FROM hookmill.run_outputs WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.run_outputs WHERE day < $1
        AND NOT EXISTS (SELECT FROM hookmill.runs WHERE runs.id = run_id) LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [cutoffDay]), 0);
  },
  snapshots: async (pool, cutoffDay) => {
    // Younger rows refer only to snapshots that were used since.
    const text = `DELETE FROM hookmill.snapshots WHERE used_day < $1
      AND NOT EXISTS (SELECT FROM hookmill.deliveries WHERE day < $1 AND snapshot = key)
      AND NOT EXISTS (SELECT FROM hookmill.runs WHERE day < $1 AND snapshot = key)`;
    await pool.query(text, [cutoffDay]);
    return undefined;
  },
};

/** By how much the clock of this machine is ahead of the database's: a wrong clock must not drop days too early. */
async function readAheadMs(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ nowMs: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"',
  );
  const nowMs = Date.now();
  const aheadMs = Math.round(nowMs - (rows[0]?.nowMs ?? nowMs));
  return aheadMs > clockDifferenceMs ? aheadMs : 0;
}

function toProgress(
  { rowCount }: { readonly rowCount: number | null },
  deliveries: number,
): number | undefined {
  return rowCount ? deliveries : undefined;
}

async function listOldDays(pool: Pool, cutoffDay: number): Promise<number[]> {
  const { rows } = await pool.query<{ day: number }>(
    `SELECT day FROM (
      SELECT substring(relname FROM '^deliveries_([1-9][0-9]*)$')::integer AS day FROM pg_class
      WHERE relnamespace = 'hookmill'::regnamespace AND relkind = 'r' AND relname ~ '^deliveries_[1-9][0-9]*$'
    ) AS partitions WHERE day < $1 ORDER BY day`,
    [cutoffDay],
  );
  return rows.map(({ day }) => day);
}

/** Carries over what must stay, then drops the day's partitions. Deliveries go on being recorded meanwhile. */
async function removeDay(pool: Pool, day: number, { keepNewest }: PruneRule): Promise<number> {
  if (await isAttached(pool, 'deliveries', day)) {
    const uids = await listUids(pool, day);
    for (const uid of uids) await carryOver(pool, carryNewest, [day, uid, Math.max(1, keepNewest)]);
    await carryOver(pool, carryUnfinished, [day]);
  }
  // Runs first: a run never lacks its delivery.
  await detach(pool, 'runs', day);
  await detach(pool, 'deliveries', day);
  await rescueUnfinished(pool, day);
  const removed = await countRows(pool, day);
  await pool.query(`DROP TABLE IF EXISTS hookmill.runs_${day}, hookmill.deliveries_${day}`);
  return removed;
}

async function isAttached(pool: Pool, table: string, day: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1) AND NOT inhdetachpending',
    [`hookmill.${table}_${day}`],
  );
  return rowCount === 1;
}

/** Each UID of a day, found by jumps through its index rather than by a scan of all rows. */
async function listUids(pool: Pool, day: number): Promise<string[]> {
  const { rows } = await pool.query<{ uid: string }>(
    `WITH RECURSIVE uids AS (
      (SELECT uid FROM hookmill.deliveries WHERE day = $1 ORDER BY uid LIMIT 1)
      UNION ALL
      SELECT (SELECT uid FROM hookmill.deliveries WHERE day = $1 AND uid > uids.uid ORDER BY uid LIMIT 1)
      FROM uids WHERE uids.uid IS NOT NULL
    ) SELECT uid FROM uids WHERE uid IS NOT NULL`,
    [day],
  );
  return rows.map(({ uid }) => uid);
}

/** Moves deliveries to partition 0, with their identities, runs and outputs. `chosen` selects their ids. */
async function carryOver(pool: Pool, chosen: string, values: readonly unknown[]): Promise<void> {
  await inTransaction(pool, async client => {
    const [day] = values;
    const { rows } = await client.query<{ id: string }>(chosen, [...values]);
    const parameters = [day, rows.map(({ id }) => id)];
    if (rows.length === 0) return;
    for (const text of carrying) await client.query(text, parameters);
  });
}

const carryNewest = `
  SELECT id FROM hookmill.deliveries WHERE day = $1 AND uid = $2 AND (at_ms, seq) >= coalesce(
    (SELECT ROW (at_ms, seq) FROM hookmill.deliveries WHERE uid = $2 ORDER BY at_ms DESC, seq DESC LIMIT 1 OFFSET $3 - 1),
    ROW (0::bigint, 0::bigint))`;

const carryUnfinished = `
  SELECT DISTINCT delivery_id AS id FROM hookmill.runs WHERE day = $1 AND state IN ('queued', 'running')`;

const carrying = [
  `UPDATE hookmill.accepted SET day = 0 WHERE identity IN (
    SELECT hookmill.accepted_key(uid, identity_source, identity) FROM hookmill.deliveries
    WHERE day = $1 AND id = ANY ($2) AND outcome = 'Accepted')`,
  'UPDATE hookmill.runs SET day = 0 WHERE day = $1 AND delivery_id = ANY ($2)',
  'UPDATE hookmill.deliveries SET day = 0 WHERE day = $1 AND id = ANY ($2)',
];

/** Detaches a partition without blocking others; also one whose detaching was interrupted. */
async function detach(pool: Pool, table: string, day: number): Promise<void> {
  const name = `hookmill.${table}_${day}`;
  const alter = `ALTER TABLE hookmill.${table} DETACH PARTITION ${name}`;
  if (await isAttached(pool, table, day)) return alterInTime(pool, `${alter} CONCURRENTLY`);
  const { rowCount } = await pool.query('SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1)', [name]);
  if (rowCount === 1) await alterInTime(pool, `${alter} FINALIZE`);
}

/** Gives up while long transactions of others are in the way; the next pass continues. A stop waits for this. */
async function alterInTime(pool: Pool, statement: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`SET statement_timeout = ${detachMs}`);
    await client.query(statement);
  } finally {
    // The connection is closed, and its setting with it.
    client.release(true);
  }
}

/** Keeps the runs that were replayed or retried after the day's unfinished runs were carried over. */
async function rescueUnfinished(pool: Pool, day: number): Promise<void> {
  const { rows } = await pool.query<{ both: boolean }>(
    "SELECT to_regclass('hookmill.runs_' || $1) IS NOT NULL AND to_regclass('hookmill.deliveries_' || $1) IS NOT NULL AS both",
    [day],
  );
  if (!rows[0]?.both) return;
  // Copies, because a detached partition still takes only rows of its day.
  await inTransaction(pool, async client => {
    await client.query(`
      CREATE TEMP TABLE kept_deliveries ON COMMIT DROP AS SELECT * FROM hookmill.deliveries_${day} WHERE id IN (
        SELECT delivery_id FROM hookmill.runs_${day} WHERE state IN ('queued', 'running'));
      CREATE TEMP TABLE kept_runs ON COMMIT DROP AS SELECT * FROM hookmill.runs_${day} WHERE delivery_id IN (
        SELECT id FROM kept_deliveries);
      UPDATE hookmill.accepted SET day = 0 WHERE identity IN (
        SELECT hookmill.accepted_key(uid, identity_source, identity) FROM kept_deliveries);
      UPDATE kept_deliveries SET day = 0;
      UPDATE kept_runs SET day = 0;
      INSERT INTO hookmill.deliveries SELECT * FROM kept_deliveries ON CONFLICT DO NOTHING;
      INSERT INTO hookmill.runs SELECT * FROM kept_runs ON CONFLICT DO NOTHING;`);
  });
}

/** Counts what is dropped: by the statistics if there are any, because a large table takes minutes to read. */
async function countRows(pool: Pool, day: number): Promise<number> {
  const { rows } = await pool.query<{ estimate: number }>(
    'SELECT reltuples::bigint AS estimate FROM pg_class WHERE oid = to_regclass($1)',
    [`hookmill.deliveries_${day}`],
  );
  const estimate = rows[0]?.estimate;
  if (estimate === undefined || estimate > 0) return estimate ?? 0;
  const counted = await pool.query<{ count: number }>(`SELECT count(*) FROM hookmill.deliveries_${day}`);
  return counted.rows[0]?.count ?? 0;
}

/** Removes deliveries from partition 0 that newer ones have replaced, or whose last run has finished. */
async function removeKept(pool: Pool, _cutoffDay: number, rule: PruneRule): Promise<number | undefined> {
  return inTransaction(pool, async client => {
    const { rows } = await client.query<{ id: string }>(selectReplaced, [
      Math.max(1, rule.keepNewest),
      rule.keepSinceMs,
    ]);
    if (rows.length === 0) return undefined;
    const ids = [rows.map(({ id }) => id)];
    for (const text of removing) await client.query(text, ids);
    return rows.length;
  });
}

const selectReplaced = `
  SELECT id FROM hookmill.deliveries AS kept
  WHERE day = 0 AND at_ms < $2
    AND NOT EXISTS (
      SELECT FROM hookmill.runs WHERE day = 0 AND delivery_id = kept.id AND state IN ('queued', 'running'))
    AND (SELECT count(*) FROM (
      SELECT FROM hookmill.deliveries AS newer WHERE newer.uid = kept.uid
        AND (newer.at_ms, newer.seq) > (kept.at_ms, kept.seq) LIMIT $1) AS newest) >= $1
  LIMIT ${rowsPerStepMax}
  FOR UPDATE`;

const removing = [
  `DELETE FROM hookmill.accepted WHERE identity IN (
    SELECT hookmill.accepted_key(uid, identity_source, identity) FROM hookmill.deliveries
    WHERE day = 0 AND id = ANY ($1) AND outcome = 'Accepted')`,
  'DELETE FROM hookmill.run_outputs WHERE run_id IN (SELECT id FROM hookmill.runs WHERE day = 0 AND delivery_id = ANY ($1))',
  'DELETE FROM hookmill.runs WHERE day = 0 AND delivery_id = ANY ($1)',
  'DELETE FROM hookmill.deliveries WHERE day = 0 AND id = ANY ($1)',
];
