import type { Pool, PoolClient } from 'pg';
import { manualUid } from '../../../schema/delivery.ts';
import {
  attemptErrorCharsMax,
  attemptsKeptMax,
  flowDecisionsMax,
  setInterrupted,
  stopReason,
} from '../../delivery-log/run-flow.ts';
import { followReport, withoutNulls } from '../../delivery-log/stored-rows.ts';
import { packRuns } from '../../delivery-log/thread/batch.ts';
import type { AsyncVerbTable } from '../../delivery-log/thread/wire.ts';
import type {
  ClaimedRuns,
  Replay,
  Run,
  RunAttempt,
  RunClaim,
  RunnerPlaces,
  RunReport,
} from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { isPartitionMissing } from '../connection/postgres-failure.ts';
import { toColumns, toStorableText } from '../connection/text.ts';
import { prepareCancelRun, takeToCancel } from './cancels.ts';
import { type Lease, OwnClaims } from './lease.ts';
import { toDay } from './partitions.ts';
import { isPausedRun, parkPaused, preparePauseVerbs, releaseResumed } from './pauses.ts';
import { isDelivery, runColumns, runnerOfRun, toIdValues } from './rows.ts';
import type { PostgresSnapshots } from './snapshots.ts';

/** The queue of runs, which all replicas share. */
export function prepareRuns(pool: Pool, lease: Lease, snapshots: PostgresSnapshots) {
  return {
    ...prepareClaims(pool, lease),
    ...prepareForgetting(pool),
    cancelRun: prepareCancelRun(pool),
    ...preparePauseVerbs(pool),
    recordReport: ({ report, countMax, ...attempt }) =>
      inTransaction(pool, async client => {
        const select = `SELECT report::json AS report FROM hookmill.runs WHERE ${isClaimed} FOR UPDATE`;
        const [known] = (await client.query<{ report: RunReport | null }>(select, toClaim(attempt))).rows;
        if (!known) return 'lost';
        const next = followReport(known.report, { report, countMax });
        if (!next) return 'too-many';
        const values = [...toClaim(attempt), toStorableText(JSON.stringify(next))];
        await client.query(`UPDATE hookmill.runs SET report = $4 WHERE ${isClaimed}`, values);
        return 'recorded';
      }),
    correctDueTimes: async ({ nowMs, backMs }) => {
      const due = await pool.query(`${correctDueTimes} AND state = 'queued'`, [nowMs, backMs]);
      const parked = await pool.query(`${correctDueTimes} AND state = 'parked' AND id IN (${selectParked})`, [
        nowMs,
        backMs,
      ]);
      return (due.rowCount ?? 0) + (parked.rowCount ?? 0);
    },
    retryRun: async ({ id, nowMs }) => {
      const retried = await pool.query(
        `UPDATE hookmill.runs SET state = 'queued', attempts = 0, not_before_ms = $2, finished_at_ms = NULL,
          stopped = NULL, dismissed = NULL, cancel = NULL
        WHERE id = $1 AND state = 'failed'`,
        [id, nowMs],
      );
      return retried.rowCount === 1;
    },
    approveRun: async ({ id, approval }) => {
      const approved = await pool.query(
        `UPDATE hookmill.runs SET state = 'queued', waits_for = NULL, not_before_ms = $3,
          afterwards = jsonb_set(afterwards::jsonb, '{approval}', $2::jsonb)::text
        WHERE id = $1 AND state = 'parked' AND waits_for = 'approval' AND cancel IS NULL`,
        [id, JSON.stringify(approval), approval.atMs],
      );
      return approved.rowCount === 1;
    },
    dismissRun: async id => {
      const text = "UPDATE hookmill.runs SET dismissed = true WHERE id = $1 AND state = 'failed'";
      return (await pool.query(text, [id])).rowCount === 1;
    },
    replay: replay =>
      inTransaction(pool, client => recordReplay(client, replay, snapshots)).catch((error: unknown) => {
        // Retention is dropping its day: the partition of its runs is gone, or about to be.
        if (isPartitionMissing(error)) return false;
        throw error;
      }),
  } satisfies Partial<AsyncVerbTable>;
}

/** Forgets what somebody has looked at. */
function prepareForgetting(pool: Pool) {
  const forgetIn = (table: 'run_ends' | 'failures') => async (seqs: readonly number[]) =>
    (await pool.query(`DELETE FROM hookmill.${table} WHERE seq = ANY ($1)`, [seqs])).rowCount ?? 0;
  return {
    forgetEnds: forgetIn('run_ends'),
    forgetFailures: forgetIn('failures'),
  } satisfies Partial<AsyncVerbTable>;
}

/** Claims, and the results of what was claimed. */
function prepareClaims(pool: Pool, lease: Lease) {
  const own = new OwnClaims();
  const requeue = (claimedBy: string) => requeueAbandoned(pool, claimedBy, own.list(claimedBy));
  /** Changes a run that was claimed here and is no longer executed; false if it is not running under that claim. */
  const end = async (attempt: RunAttempt, set: string, values: readonly unknown[]): Promise<boolean> => {
    const text = `UPDATE hookmill.runs SET ${set} WHERE ${isClaimed}`;
    const ended = await pool.query(text, [...toClaim(attempt), ...values]);
    own.end(attempt);
    return ended.rowCount === 1;
  };
  const claimAndRemember = async ({ daemonId, nowMs, places }: RunClaim): Promise<ClaimedRuns> => {
    const claimedBy = await lease.hold(daemonId);
    // Apart from the claim, because each of the two locks lanes in order.
    await requeue(claimedBy);
    await releaseResumed(pool, nowMs);
    const { taken, own: toCancel } = await takeToCancel(pool, claimedBy);
    const claimed = await inTransaction(pool, async client => {
      const found = await claim(client, claimedBy, nowMs, places);
      return { ...found, ...(await findNext(client, places, found.runs)) };
    });
    const runs = [...taken.map(withoutNulls), ...claimed.runs];
    own.add(runs, claimedBy);
    return { ...claimed, runs, ...(toCancel.length > 0 && { toCancel }) };
  };
  return {
    claimRuns: given => own.inOrder(() => claimAndRemember(given)),
    finishRun: ({ state, atMs, error, ...attempt }) =>
      end(attempt, setFinished, [state, atMs, toError(error)]),
    awaitReport: ({ untilMs, ...attempt }) =>
      end(attempt, 'waits_until_ms = $4, claimed_by = NULL', [untilMs]),
    postponeRun: ({ atMs, notBeforeMs, attempted, error, second, ...attempt }) => {
      const set = `state = $7, waits_for = $8, not_before_ms = $4, error = $5, claimed_by = NULL, waits_until_ms = NULL,
        attempts = CASE WHEN $9::text IS NULL THEN attempts - $6 ELSE 0 END, afterwards = coalesce(afterwards, $9),
        history = CASE $6 WHEN 0 THEN ${endAttempt('$10', '$5')} ELSE hookmill.forget_attempt(history) END`;
      const places = second?.waitsForApproval ? ['parked', 'approval'] : ['queued', null];
      const json = second ? JSON.stringify({ sinceMs: second.sinceMs }) : null;
      return end(attempt, set, [notBeforeMs, toError(error), attempted ? 0 : 1, ...places, json, atMs]);
    },
    requeueRunsOfOthers: daemonId =>
      own.inOrder(async () => {
        const requeued = await requeue(await lease.hold(daemonId));
        await pool.query('SELECT hookmill.release_all_lanes()');
        return requeued;
      }),
  } satisfies Partial<AsyncVerbTable>;
}

const setFinished = `
  state = $4, finished_at_ms = $5, error = $6, claimed_by = NULL, waits_until_ms = NULL,
  cancel = CASE WHEN $4 = 'cancelled' THEN cancel END, history = ${endAttempt('$5', '$6')}`;

const isClaimed = "id = $1 AND state = 'running' AND claimed_by IS NOT DISTINCT FROM $2 AND claims = $3";

function toClaim({ id, claimedBy, claims }: RunAttempt): unknown[] {
  return [id, claimedBy, claims];
}

/** What SQL sets as the history of a run whose attempt has ended. */
function endAttempt(atMs: string, error: string): string {
  return `hookmill.end_attempt(history, (${atMs})::bigint, left(${error}, ${attemptErrorCharsMax}))`;
}

function toError(error: string | undefined): string | null {
  return error === undefined ? null : toStorableText(error);
}

/**
 * Queues the runs whose daemon has no lease any more, or fails them if they were interrupted too often. Also those that
 * this daemon does not know to be its own: the answer to their claim was lost, or a failover undid their result.
 */
async function requeueAbandoned(pool: Pool, claimedBy: string, own: readonly string[]): Promise<number> {
  const text = `
    UPDATE hookmill.runs SET ${setInterrupted('floor(extract(epoch FROM clock_timestamp()) * 1000)', endAttempt)}
    WHERE state = 'running' AND claimed_by IS NOT NULL AND (claimed_by = $1 AND id <> ALL ($2) OR NOT EXISTS (
      SELECT FROM hookmill.replicas WHERE replicas.id = claimed_by AND lease_until > clock_timestamp()))`;
  const requeued = await pool.query(text, [claimedBy, own]);
  return requeued.rowCount ?? 0;
}

/**
 * Claims the runs of each runner that wait longest. Those that another replica is claiming at the same time are left to
 * it.
 */
async function claim(
  client: PoolClient,
  claimedBy: string,
  nowMs: number,
  places: RunnerPlaces,
): Promise<Pick<ClaimedRuns, 'runs' | 'stopped'>> {
  const claimed: Run[] = [];
  const stopped: Run[] = [];
  let decisions = 0;
  let decided: number | undefined;
  let free = leaveFree(places, []);
  while (Object.keys(free).length > 0 && decisions < flowDecisionsMax && decided !== 0) {
    const due = await client.query<DueRun>(lockDue, [
      claimedBy,
      nowMs,
      Object.keys(free),
      Object.values(free),
    ]);
    const paused = due.rows.filter(({ isPaused }) => isPaused);
    if (paused.length > 0) await parkPaused(client, paused);
    const unbound = due.rows.filter(({ hasFlow, isPaused }) => !hasFlow && !isPaused);
    if (unbound.length > 0) {
      const values = [unbound.map(({ day }) => day), unbound.map(({ id }) => id), claimedBy, nowMs];
      claimed.push(...(await client.query<Run>(start, values)).rows);
    }
    const flowing = due.rows.filter(({ hasFlow, isPaused }) => hasFlow && !isPaused);
    if (flowing.length > 0) {
      const values = [flowing.map(({ id }) => id), claimedBy, nowMs, stopReason];
      for (const run of (await client.query<Run>(decide, values)).rows)
        (run.state === 'running' ? claimed : stopped).push(run);
    }
    decided = flowing.length + paused.length;
    decisions += decided;
    free = leaveFree(places, claimed);
  }
  const runs = claimed.map(withoutNulls);
  return stopped.length === 0 ? { runs } : { runs, stopped: stopped.map(withoutNulls) };
}

/** The places that are left after runs have been claimed, of the runners that have one. */
function leaveFree(places: RunnerPlaces, claimed: readonly Run[]): RunnerPlaces {
  const taken = Map.groupBy(claimed, ({ runner }) => runner);
  const left = Object.entries(places).map(
    ([name, count]) => [name, count - (taken.get(name)?.length ?? 0)] as const,
  );
  return Object.fromEntries(left.filter(([, count]) => count > 0));
}

interface DueRun {
  readonly day: number;
  readonly id: string;
  readonly hasFlow: boolean;
  readonly isPaused: boolean;
}

// The runs are started by a statement of their own, which PostgreSQL plans for their days only.
const lockDue = `
  SELECT due.* FROM unnest($3::text[], $4::integer[]) AS places (name, count), LATERAL (
    SELECT day, id, flow IS NOT NULL AS "hasFlow", ${isPausedRun} AS "isPaused" FROM hookmill.runs
    WHERE state = 'queued' AND ${runnerOfRun} = name AND not_before_ms <= $2
      AND EXISTS (SELECT FROM hookmill.replicas WHERE replicas.id = $1 AND lease_until > clock_timestamp())
    ORDER BY not_before_ms, seq LIMIT count
    FOR UPDATE SKIP LOCKED) AS due`;

const start = `
  WITH runs AS (
    UPDATE hookmill.runs SET state = 'running', attempts = attempts + 1, claims = claims + 1, claimed_by = $3,
      started_at_ms = $4, finished_at_ms = NULL, waits_until_ms = NULL,
      report = CASE WHEN afterwards IS NOT NULL THEN report END,
      history = hookmill.begin_attempt(history, attempts + 1, $4, ${attemptsKeptMax})
    WHERE day = ANY ($1) AND id = ANY ($2) RETURNING *
  )
  SELECT ${runColumns} FROM runs LEFT JOIN hookmill.snapshots ON key = snapshot ORDER BY not_before_ms, seq`;

const decide = `SELECT ${runColumns} FROM hookmill.decide_runs_2($1, $2, $3, $4, ${attemptsKeptMax}) AS runs LEFT JOIN hookmill.snapshots ON key = snapshot`;

/** Finds when the next run is due, and other runners with queued runs. */
async function findNext(
  client: PoolClient,
  places: RunnerPlaces,
  claimed: readonly Run[],
): Promise<Pick<ClaimedRuns, 'nextDueMs' | 'otherRunners'>> {
  const { rows } = await client.query<{ runner: string; atMs: number }>(selectNext);
  const free = leaveFree(places, claimed);
  const due = rows.filter(({ runner }) => free[runner] !== undefined).map(({ atMs }) => atMs);
  const otherRunners = rows.map(({ runner }) => runner).filter(name => places[name] === undefined);
  return {
    ...(due.length > 0 && { nextDueMs: Math.min(...due) }),
    ...(otherRunners.length > 0 && { otherRunners }),
  };
}

// The first queued run of each runner. It goes from name to name by the index, because a group would read each run.
const selectNext = `
  WITH RECURSIVE firsts AS (
    (SELECT ${runnerOfRun} AS runner, not_before_ms FROM hookmill.runs WHERE state = 'queued'
      ORDER BY ${runnerOfRun}, not_before_ms LIMIT 1)
    UNION ALL
    SELECT next.* FROM firsts, LATERAL (
      SELECT ${runnerOfRun}, not_before_ms FROM hookmill.runs WHERE state = 'queued' AND ${runnerOfRun} > firsts.runner
      ORDER BY ${runnerOfRun}, not_before_ms LIMIT 1) AS next)
  SELECT runner, not_before_ms AS "atMs" FROM firsts`;

// A run that is stamped later than now was recorded or attempted before the clock was set back.
const correctDueTimes = `
  UPDATE hookmill.runs SET not_before_ms = least(not_before_ms - $2::bigint,
    CASE WHEN greatest(created_at_ms, started_at_ms) > $1::bigint
      THEN $1 + greatest(0, not_before_ms - greatest(created_at_ms, started_at_ms)) ELSE not_before_ms END)
  WHERE not_before_ms > $1`;

const selectParked = "SELECT run_id FROM hookmill.run_flows WHERE state = 'parked'";

async function recordReplay(
  client: PoolClient,
  { deliveryId, runs, appliedState, nowMs, manual }: Replay,
  snapshots: PostgresSnapshots,
): Promise<boolean> {
  if (manual) {
    const { factory, webhook, payload, headers } = manual;
    const values = [
      toDay(nowMs),
      deliveryId,
      factory,
      webhook,
      manualUid,
      nowMs,
      payload,
      JSON.stringify(headers),
    ];
    await client.query(insertManual, values);
  }
  const snapshot = await snapshots.store(client, appliedState, toDay(nowMs));
  const stored = await client.query(
    `SELECT FROM hookmill.deliveries WHERE ${isDelivery} AND outcome IN ('Accepted', 'Manual') FOR KEY SHARE`,
    toIdValues(deliveryId),
  );
  if (stored.rowCount === 0) return false;
  const columns = toColumns(packRuns(runs), ['id', 'automation', 'flow', 'againOf']);
  await client.query(insertReplay, [deliveryId, snapshot, nowMs, ...columns, manual ? true : null]);
  return true;
}

const insertManual = `
  INSERT INTO hookmill.deliveries (day, id, factory, webhook, uid, at_ms, size, outcome, payload, headers)
  VALUES ($1, $2, $3, $4, $5, $6, length($7::bytea), 'Manual', $7, $8)
  ON CONFLICT (id, day) DO NOTHING`;

const insertReplay = `
  WITH given AS (
    SELECT * FROM unnest($4::text[], $5::text[], $6::text[], $7::text[]) WITH ORDINALITY
      AS r (id, automation, flow, again_of, position)
  ), taken AS (
    INSERT INTO hookmill.run_deliveries (run_id, delivery_id, day)
    SELECT given.id, delivery_id, day FROM given JOIN hookmill.run_deliveries ON run_id = again_of
    ON CONFLICT DO NOTHING
  )
  INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, manual, snapshot, not_before_ms,
    created_at_ms, flow, again_of, delivery_count)
  SELECT day, r.id, deliveries.id, factory, webhook, r.automation, $8::boolean IS NULL, $8, $2, $3, $3, r.flow, r.again_of,
    (SELECT delivery_count FROM hookmill.runs AS before WHERE before.id = r.again_of)
  FROM hookmill.deliveries, given AS r
  WHERE deliveries.id = $1 ORDER BY position
  ON CONFLICT (id, day) DO NOTHING`;
