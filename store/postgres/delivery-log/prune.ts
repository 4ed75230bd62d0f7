import type { Pool } from 'pg';
import type { AsyncVerbTable, PrunedStep } from '../../delivery-log/thread/wire.ts';
import type { PruneRule } from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { toDay } from './partitions.ts';
import { type Carried, type Progress, removeDays } from './prune-days.ts';
import { isNeeded } from './rows.ts';
import { tallyResults } from './tallies.ts';

/** @limit Rows deleted in one step of pruning: its transaction is short, and what it leaves dead is soon reused. */
const rowsPerStepMax = 5_000;
/** @limit Difference to the clock of the database that retention ignores, in ms: it is counted in days. */
const clockDifferenceMs = 60_000;

/** The phases of a pass, in order. Each is repeated until it finds nothing to do. */
const phases = [
  'days',
  'identities',
  'taken',
  'kept',
  'outputs',
  'flows',
  'snapshots',
  'unlogged',
  'tallies',
  'results',
  'runTallies',
  'runDurations',
] as const;
type Phase = (typeof phases)[number];

/** The place at which the next step continues. */
interface Position {
  readonly phase: Phase;
  readonly carried?: Carried | undefined;
}

/** Does one step; undefined if the phase has nothing more to do. */
type Step = (
  pool: Pool,
  cutoffDay: number,
  rule: PruneRule,
  carried: Carried | undefined,
) => Promise<Progress | undefined>;

/**
 * Prepares the steps of a pass. A day whose deliveries are all past their retention is dropped as a whole; what must stay
 * longer is carried over to partition 0 first. Several replicas may do this at the same time: each step finds what is left.
 */
export function preparePruning(pool: Pool): AsyncVerbTable['pruneStep'] {
  return async ({ after, ...given }): Promise<PrunedStep> => {
    const { phase, carried } = (after as Position | undefined) ?? { phase: phases[0] };
    const rule = { ...given, keepSinceMs: given.keepSinceMs - (await readAheadMs(pool)) };
    const progress = await steps[phase](pool, toDay(rule.keepSinceMs), rule, carried);
    const nextPhase = progress ? phase : phases[phases.indexOf(phase) + 1];
    const next = nextPhase && ({ phase: nextPhase, carried: progress?.carried } satisfies Position);
    return { deliveries: progress?.deliveries ?? 0, ...(next && { next }) };
  };
}

const steps: Readonly<Record<Phase, Step>> = {
  days: removeDays,
  identities: async (pool, cutoffDay) => {
    const text = `DELETE FROM hookmill.accepted WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.accepted WHERE day BETWEEN 1 AND $1 - 1 LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [cutoffDay]));
  },
  taken: async (pool, cutoffDay) => {
    const text = `DELETE FROM hookmill.run_deliveries WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.run_deliveries WHERE day BETWEEN 1 AND $1 - 1 LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [cutoffDay]));
  },
  kept: removeKept,
  outputs: async (pool, cutoffDay) => {
    const text = `DELETE FROM hookmill.run_outputs WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.run_outputs WHERE day < $1
        AND NOT EXISTS (SELECT FROM hookmill.runs WHERE runs.id = run_id) LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [cutoffDay]));
  },
  flows: async (pool, cutoffDay) => {
    const text = `DELETE FROM hookmill.run_flows WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.run_flows WHERE day < $1
        AND NOT EXISTS (SELECT FROM hookmill.runs WHERE runs.id = run_id) LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [cutoffDay]));
  },
  snapshots: async (pool, cutoffDay) => {
    // Younger rows refer only to snapshots that were used since.
    const text = `DELETE FROM hookmill.snapshots WHERE used_day < $1
      AND NOT EXISTS (SELECT FROM hookmill.deliveries WHERE day < $1 AND snapshot = key)
      AND NOT EXISTS (SELECT FROM hookmill.runs WHERE day < $1 AND snapshot = key)`;
    await pool.query(text, [cutoffDay]);
    return undefined;
  },
  unlogged: async (pool, _cutoffDay, { keepSinceMs }) => {
    const text = `DELETE FROM hookmill.unlogged WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.unlogged WHERE minute < $1::bigint / 60000 LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [keepSinceMs]));
  },
  tallies: removeHours('tallies'),
  // Those of a daemon that stopped before it tallied them, or of a copy.
  results: async pool => toProgress({ rowCount: (await pool.query(tallyResults)).rows[0].tallied }),
  runTallies: removeHours('run_tallies'),
  runDurations: removeHours('run_durations'),
};

function removeHours(table: string): Step {
  return async (pool, _cutoffDay, { keepTalliesSinceHour = 0 }) => {
    const text = `DELETE FROM hookmill.${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM hookmill.${table} WHERE hour < $1 LIMIT ${rowsPerStepMax}))`;
    return toProgress(await pool.query(text, [keepTalliesSinceHour]));
  };
}

/** Returns how far this machine's clock is ahead of the database's: a wrong clock must not drop days too early. */
async function readAheadMs(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ nowMs: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"',
  );
  const nowMs = Date.now();
  const aheadMs = Math.round(nowMs - (rows[0]?.nowMs ?? nowMs));
  return aheadMs > clockDifferenceMs ? aheadMs : 0;
}

function toProgress({ rowCount }: { readonly rowCount: number | null }): Progress | undefined {
  return rowCount ? { deliveries: 0 } : undefined;
}

/** Removes deliveries from partition 0 that newer ones have replaced, or whose last run is no longer needed. */
async function removeKept(pool: Pool, _cutoffDay: number, rule: PruneRule): Promise<Progress | undefined> {
  return inTransaction(pool, async client => {
    const { rows } = await client.query<{ id: string }>(selectReplaced, [
      Math.max(1, rule.keepNewest),
      rule.keepSinceMs,
    ]);
    if (rows.length === 0) return undefined;
    // A replay or a retry may have queued a run before the deliveries were locked.
    const runs = await client.query<{ id: string; needed: boolean }>(lockRuns, [rows.map(({ id }) => id)]);
    const needed = new Set(runs.rows.flatMap(run => (run.needed ? [run.id] : [])));
    const ids = rows.map(({ id }) => id).filter(id => !needed.has(id));
    for (const text of removing) await client.query(text, [ids]);
    return { deliveries: ids.length };
  });
}

const selectReplaced = `
  SELECT id FROM hookmill.deliveries AS kept
  WHERE day = 0 AND at_ms < $2
    AND NOT EXISTS (
      SELECT FROM hookmill.runs WHERE day = 0 AND delivery_id = kept.id AND ${isNeeded})
    AND NOT EXISTS (
      SELECT FROM hookmill.run_deliveries AS taken JOIN hookmill.runs ON id = run_id
      WHERE taken.delivery_id = kept.id AND ${isNeeded})
    AND (SELECT count(*) FROM (
      SELECT FROM hookmill.deliveries AS newer WHERE newer.uid = kept.uid
        AND (newer.at_ms, newer.seq) > (kept.at_ms, kept.seq) LIMIT $1) AS newest) >= $1
  LIMIT ${rowsPerStepMax}
  FOR UPDATE`;

const lockRuns = `
  SELECT delivery_id AS id, ${isNeeded} AS needed FROM hookmill.runs WHERE day = 0 AND delivery_id = ANY ($1) FOR UPDATE`;

const removing = [
  `DELETE FROM hookmill.accepted WHERE identity IN (
    SELECT hookmill.accepted_key(uid, identity_source, identity) FROM hookmill.deliveries
    WHERE day = 0 AND id = ANY ($1) AND outcome = 'Accepted')`,
  'DELETE FROM hookmill.run_outputs WHERE run_id IN (SELECT id FROM hookmill.runs WHERE day = 0 AND delivery_id = ANY ($1))',
  'DELETE FROM hookmill.runs WHERE day = 0 AND delivery_id = ANY ($1)',
  'DELETE FROM hookmill.run_deliveries WHERE delivery_id = ANY ($1)',
  'DELETE FROM hookmill.deliveries WHERE day = 0 AND id = ANY ($1)',
];
