import type { Pool, PoolClient } from 'pg';
import type { ClaimedRuns, Replay, Run, RunAttempt, RunClaim } from '../../delivery-log.ts';
import type { RunVerb } from '../../delivery-log-thread/wire.ts';
import { withoutNulls } from '../../stored-rows.ts';
import { inTransaction } from '../connection/transaction.ts';
import type { Lease } from './lease.ts';
import { isPartitionMissing } from './log-failures.ts';
import { toDay } from './partitions.ts';
import { isDelivery, runColumns, toIdValues } from './rows.ts';
import type { PostgresSnapshots } from './snapshots.ts';
import { toStorableText } from './text.ts';
import type { AsyncVerbs } from './verbs.ts';

type RunVerbs = Pick<AsyncVerbs, RunVerb>;

/** The queue of runs, which all replicas share. */
export function prepareRuns(pool: Pool, lease: Lease, snapshots: PostgresSnapshots): RunVerbs {
  return {
    ...prepareClaims(pool, lease),
    recordReport: async ({ report, ...attempt }) => {
      const values = [...toClaim(attempt), toStorableText(JSON.stringify(report))];
      const recorded = await pool.query(`UPDATE hookmill.runs SET report = $4 WHERE ${isClaimed}`, values);
      return recorded.rowCount === 1;
    },
    correctDueTimes: async ({ nowMs, backMs }) => {
      const corrected = await pool.query(correctDueTimes, [nowMs, backMs]);
      return corrected.rowCount ?? 0;
    },
    retryRun: async ({ id, nowMs }) => {
      const retried = await pool.query(
        `UPDATE hookmill.runs SET state = 'queued', attempts = 0, not_before_ms = $2, finished_at_ms = NULL
        WHERE id = $1 AND state = 'failed'`,
        [id, nowMs],
      );
      return retried.rowCount === 1;
    },
    replay: replay =>
      inTransaction(pool, client => recordReplay(client, replay, snapshots)).catch((error: unknown) => {
        // Retention is dropping its day: the partition of its runs is gone, or about to be.
        if (isPartitionMissing(error)) return false;
        throw error;
      }),
  };
}

/** Claims, and the results of what was claimed. */
function prepareClaims(
  pool: Pool,
  lease: Lease,
): Pick<RunVerbs, 'claimRuns' | 'finishRun' | 'awaitReport' | 'postponeRun' | 'requeueRunsOfOthers'> {
  /** The runs that were claimed here and have no result yet, each with the name that claimed it. */
  const executing = new Map<string, string | undefined>();
  const requeue = (client: Pick<PoolClient, 'query'>, claimedBy: string) => {
    const own = [...executing].filter(([, name]) => name === claimedBy).map(([id]) => id);
    return requeueAbandoned(client, claimedBy, own);
  };
  const end = ({ id, claimedBy }: RunAttempt) => {
    if (executing.get(id) === claimedBy) executing.delete(id);
  };
  const claimAndRemember = async ({ daemonId, nowMs, limit }: RunClaim): Promise<ClaimedRuns> => {
    const claimedBy = await lease.hold(daemonId);
    const claimed = await inTransaction(pool, async client => {
      await requeue(client, claimedBy);
      const runs = await claim(client, claimedBy, nowMs, limit);
      const nextDueMs = await findNextDue(client);
      return nextDueMs === undefined ? { runs } : { runs, nextDueMs };
    });
    for (const { id } of claimed.runs) executing.set(id, claimedBy);
    return claimed;
  };
  // One after the other: a claim must know the runs of those before it, or it would queue them again.
  let lastClaim: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const result = lastClaim.then(work);
    lastClaim = result.catch(() => undefined);
    return result;
  };
  return {
    claimRuns: given => inOrder(() => claimAndRemember(given)),
    finishRun: async ({ state, atMs, error, ...attempt }) => {
      const text = `UPDATE hookmill.runs SET state = $4, finished_at_ms = $5, error = $6, claimed_by = NULL,
        waits_until_ms = NULL WHERE ${isClaimed}`;
      const finished = await pool.query(text, [...toClaim(attempt), state, atMs, toError(error)]);
      end(attempt);
      return finished.rowCount === 1;
    },
    awaitReport: async ({ untilMs, ...attempt }) => {
      const text = `UPDATE hookmill.runs SET waits_until_ms = $4, claimed_by = NULL WHERE ${isClaimed}`;
      const waiting = await pool.query(text, [...toClaim(attempt), untilMs]);
      end(attempt);
      return waiting.rowCount === 1;
    },
    postponeRun: async ({ notBeforeMs, attempted, error, ...attempt }) => {
      const text = `UPDATE hookmill.runs SET state = 'queued', not_before_ms = $4, error = $5, claimed_by = NULL,
        waits_until_ms = NULL, attempts = attempts - $6 WHERE ${isClaimed}`;
      const values = [...toClaim(attempt), notBeforeMs, toError(error), attempted ? 0 : 1];
      const postponed = await pool.query(text, values);
      end(attempt);
      return postponed.rowCount === 1;
    },
    requeueRunsOfOthers: daemonId => inOrder(async () => requeue(pool, await lease.hold(daemonId))),
  };
}

const isClaimed = "id = $1 AND state = 'running' AND claimed_by IS NOT DISTINCT FROM $2 AND claims = $3";

function toClaim({ id, claimedBy, claims }: RunAttempt): unknown[] {
  return [id, claimedBy, claims];
}

function toError(error: string | undefined): string | null {
  return error === undefined ? null : toStorableText(error);
}

/**
 * Queues the runs whose daemon has no lease any more, and those that this one does not know to be its own: the answer to
 * their claim was lost, or a failover undid their result.
 */
async function requeueAbandoned(
  client: Pick<PoolClient, 'query'>,
  claimedBy: string,
  own: readonly string[],
): Promise<number> {
  const text = `
    UPDATE hookmill.runs SET state = 'queued', claimed_by = NULL
    WHERE state = 'running' AND claimed_by IS NOT NULL AND (claimed_by = $1 AND id <> ALL ($2) OR NOT EXISTS (
      SELECT FROM hookmill.replicas WHERE replicas.id = claimed_by AND lease_until > clock_timestamp()))`;
  const requeued = await client.query(text, [claimedBy, own]);
  return requeued.rowCount ?? 0;
}

/** Claims the runs that wait longest. Those that another replica is claiming at the same time are left to it. */
async function claim(client: PoolClient, claimedBy: string, nowMs: number, limit: number): Promise<Run[]> {
  const { rows } = await client.query<Run>(
    `WITH due AS (
      SELECT day, id FROM hookmill.runs
      WHERE state = 'queued' AND not_before_ms <= $2
        AND EXISTS (SELECT FROM hookmill.replicas WHERE replicas.id = $1 AND lease_until > clock_timestamp())
      ORDER BY not_before_ms, seq LIMIT $3
      FOR UPDATE SKIP LOCKED
    ), runs AS (
      UPDATE hookmill.runs SET state = 'running', attempts = attempts + 1, claims = claims + 1, claimed_by = $1,
        started_at_ms = $2, finished_at_ms = NULL, waits_until_ms = NULL, report = NULL
      FROM due WHERE runs.day = due.day AND runs.id = due.id
      RETURNING runs.*
    )
    SELECT ${runColumns} FROM runs LEFT JOIN hookmill.snapshots ON key = snapshot ORDER BY not_before_ms, seq`,
    [claimedBy, nowMs, limit],
  );
  return rows.map(withoutNulls);
}

async function findNextDue(client: PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ atMs: number }>(`
    SELECT not_before_ms AS "atMs" FROM hookmill.runs WHERE state = 'queued' ORDER BY not_before_ms LIMIT 1`);
  return rows[0]?.atMs;
}

// A run that is stamped later than now was recorded or attempted before the clock was set back.
const correctDueTimes = `
  UPDATE hookmill.runs SET not_before_ms = least(not_before_ms - $2::bigint,
    CASE WHEN greatest(created_at_ms, started_at_ms) > $1::bigint
      THEN $1 + greatest(0, not_before_ms - greatest(created_at_ms, started_at_ms)) ELSE not_before_ms END)
  WHERE state = 'queued' AND not_before_ms > $1`;

async function recordReplay(
  client: PoolClient,
  { deliveryId, runs, appliedState, nowMs }: Replay,
  snapshots: PostgresSnapshots,
): Promise<boolean> {
  const snapshot = await snapshots.store(client, appliedState, toDay(nowMs));
  const stored = await client.query(
    `SELECT FROM hookmill.deliveries WHERE ${isDelivery} AND outcome = 'Accepted' FOR KEY SHARE`,
    toIdValues(deliveryId),
  );
  if (stored.rowCount === 0) return false;
  const values = [deliveryId, runs.map(({ id }) => id), runs.map(run => run.automation), snapshot, nowMs];
  await client.query(insertReplay, values);
  return true;
}

const insertReplay = `
  INSERT INTO hookmill.runs (day, id, delivery_id, factory, webhook, automation, replay, snapshot, not_before_ms, created_at_ms)
  SELECT day, r.id, deliveries.id, factory, webhook, r.automation, true, $4, $5, $5
  FROM hookmill.deliveries, unnest($2::text[], $3::text[]) WITH ORDINALITY AS r (id, automation, position)
  WHERE deliveries.id = $1 ORDER BY position
  ON CONFLICT (id, day) DO NOTHING`;
