import type { Pool } from 'pg';
import type { PruneRule } from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { isNeeded } from './rows.ts';

/** @limit Webhooks whose newest deliveries are carried over in one step of pruning: others wait for a step, and a stop too. */
const webhooksPerStepMax = 100;
/** @limit Deliveries of a dropped day that are counted if PostgreSQL has no statistics of it: a report may be lower, but never takes long. */
const countedMax = 10_000;
/** @limit Wait for long transactions of others before a partition can be detached, in ms: shorter than a daemon may take to stop. */
const detachMs = 6_000;

/** The last webhook of a day whose newest deliveries were carried over. */
export interface Carried {
  readonly day: number;
  readonly uid: string;
}

export interface Progress {
  /** The number of deliveries that were removed. */
  readonly deliveries: number;
  readonly carried?: Carried;
}

/**
 * Does one step of removing days before `cutoffDay`, the oldest first: it carries over what stays of some webhooks, or
 * drops the day. Undefined if there is no such day.
 */
export async function removeDays(
  pool: Pool,
  cutoffDay: number,
  rule: PruneRule,
  carried: Carried | undefined,
): Promise<Progress | undefined> {
  const day = await findOldestDay(pool, cutoffDay);
  if (day === undefined) return undefined;
  const uid = await carryNext(pool, day, carried?.day === day ? carried.uid : '', rule);
  if (uid !== undefined) return { deliveries: 0, carried: { day, uid } };
  return { deliveries: await removeDay(pool, day) };
}

async function findOldestDay(pool: Pool, cutoffDay: number): Promise<number | undefined> {
  const { rows } = await pool.query<{ day: number }>(
    `SELECT day FROM (
      SELECT substring(relname FROM '^deliveries_([1-9][0-9]*)$')::integer AS day FROM pg_class
      WHERE relnamespace = 'hookmill'::regnamespace AND relkind = 'r' AND relname ~ '^deliveries_[1-9][0-9]*$'
    ) AS partitions WHERE day < $1 ORDER BY day LIMIT 1`,
    [cutoffDay],
  );
  return rows[0]?.day;
}

/** Carries over the newest deliveries of the next webhooks of a day. Returns the last of these; undefined if none is left. */
async function carryNext(
  pool: Pool,
  day: number,
  afterUid: string,
  { keepNewest }: PruneRule,
): Promise<string | undefined> {
  if (!(await isAttached(pool, 'deliveries', day))) return undefined;
  const uids = await listUids(pool, day, afterUid);
  for (const uid of uids) await carryOver(pool, carryNewest, [day, uid, Math.max(1, keepNewest)]);
  return uids.at(-1);
}

/** Carries over what is still needed, then drops the day's partitions. Deliveries go on being recorded meanwhile. */
async function removeDay(pool: Pool, day: number): Promise<number> {
  if (await isAttached(pool, 'deliveries', day)) await carryOver(pool, carryNeeded, [day]);
  // Runs first: a run never lacks its delivery.
  await detach(pool, 'runs', day);
  await detach(pool, 'deliveries', day);
  await rescueNeeded(pool, day);
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

/** The next UIDs of a day, found by jumps through its index rather than by a scan of all rows. */
async function listUids(pool: Pool, day: number, after: string): Promise<string[]> {
  const { rows } = await pool.query<{ uid: string }>(
    `WITH RECURSIVE uids AS (
      (SELECT uid FROM hookmill.deliveries WHERE day = $1 AND uid > $2 ORDER BY uid LIMIT 1)
      UNION ALL
      SELECT (SELECT uid FROM hookmill.deliveries WHERE day = $1 AND uid > uids.uid ORDER BY uid LIMIT 1)
      FROM uids WHERE uids.uid IS NOT NULL
    ) SELECT uid FROM uids WHERE uid IS NOT NULL LIMIT ${webhooksPerStepMax}`,
    [day, after],
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

const carryNeeded = `
  SELECT delivery_id AS id FROM hookmill.runs WHERE day = $1 AND ${isNeeded} UNION ${selectTaken('$1')}`;

/** Selects the deliveries of a day that runs have taken up which are still needed. */
function selectTaken(day: string): string {
  return `SELECT taken.delivery_id FROM hookmill.run_deliveries AS taken JOIN hookmill.runs ON id = run_id
    WHERE taken.day = ${day} AND ${isNeeded}`;
}

const carrying = [
  `UPDATE hookmill.accepted SET day = 0 WHERE identity IN (
    SELECT hookmill.accepted_key(uid, identity_source, identity) FROM hookmill.deliveries
    WHERE day = $1 AND id = ANY ($2) AND outcome = 'Accepted')`,
  'UPDATE hookmill.runs SET day = 0 WHERE day = $1 AND delivery_id = ANY ($2)',
  'UPDATE hookmill.deliveries SET day = 0 WHERE day = $1 AND id = ANY ($2)',
  'UPDATE hookmill.run_deliveries SET day = 0 WHERE day = $1 AND delivery_id = ANY ($2)',
];

/** Detaches a partition without blocking others; also one whose detaching was interrupted. */
async function detach(pool: Pool, table: string, day: number): Promise<void> {
  const name = `hookmill.${table}_${day}`;
  const alter = `ALTER TABLE hookmill.${table} DETACH PARTITION ${name}`;
  if (await isAttached(pool, table, day)) return alterInTime(pool, `${alter} CONCURRENTLY`);
  const { rowCount } = await pool.query('SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1)', [name]);
  if (rowCount === 1) await alterInTime(pool, `${alter} FINALIZE`);
}

/**
 * Gives up while long transactions of others are in the way; the next pass continues. A stop waits for this. Not by
 * `SET statement_timeout`: through a pooler, others would get the connection with that setting.
 */
async function alterInTime(pool: Pool, statement: string): Promise<void> {
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE query = $1 AND state = 'active' AND datname = current_database()`;
  const timer = setTimeout(() => void pool.query(cancel, [statement]).catch(() => undefined), detachMs);
  await pool.query(statement).finally(() => clearTimeout(timer));
}

/** Keeps the runs that were replayed or retried after those that are needed were carried over. */
async function rescueNeeded(pool: Pool, day: number): Promise<void> {
  const { rows } = await pool.query<{ both: boolean }>(
    "SELECT to_regclass('hookmill.runs_' || $1) IS NOT NULL AND to_regclass('hookmill.deliveries_' || $1) IS NOT NULL AS both",
    [day],
  );
  if (!rows[0]?.both) return;
  // Copies, because a detached partition still takes only rows of its day.
  await inTransaction(pool, async client => {
    await client.query(`
      CREATE TEMP TABLE kept_deliveries ON COMMIT DROP AS SELECT * FROM hookmill.deliveries_${day} WHERE id IN (
        SELECT delivery_id FROM hookmill.runs_${day} WHERE ${isNeeded} UNION ${selectTaken(`${day}`)});
      CREATE TEMP TABLE kept_runs ON COMMIT DROP AS SELECT * FROM hookmill.runs_${day} WHERE delivery_id IN (
        SELECT id FROM kept_deliveries);
      UPDATE hookmill.accepted SET day = 0 WHERE identity IN (
        SELECT hookmill.accepted_key(uid, identity_source, identity) FROM kept_deliveries);
      UPDATE hookmill.run_deliveries SET day = 0 WHERE delivery_id IN (SELECT id FROM kept_deliveries);
      UPDATE kept_deliveries SET day = 0;
      UPDATE kept_runs SET day = 0;
      INSERT INTO hookmill.deliveries SELECT * FROM kept_deliveries ON CONFLICT DO NOTHING;
      INSERT INTO hookmill.runs SELECT * FROM kept_runs ON CONFLICT DO NOTHING;`);
  });
}

/** Estimates what is dropped, for the report: a large table takes minutes to count. */
async function countRows(pool: Pool, day: number): Promise<number> {
  const { rows } = await pool.query<{ estimate: number }>(
    'SELECT reltuples::bigint AS estimate FROM pg_class WHERE oid = to_regclass($1)',
    [`hookmill.deliveries_${day}`],
  );
  const estimate = rows[0]?.estimate;
  if (estimate === undefined || estimate > 0) return estimate ?? 0;
  const counted = await pool.query<{ count: number }>(
    `SELECT count(*) FROM (SELECT FROM hookmill.deliveries_${day} LIMIT ${countedMax}) AS first`,
  );
  return counted.rows[0]?.count ?? 0;
}
