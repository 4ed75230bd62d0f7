import type { Pool, PoolClient } from 'pg';
import { manualUid } from '../../../schema/delivery.ts';
import { toLife } from '../../delivery-log/life-columns.ts';
import { cancelsMax, flowDecisionsMax } from '../../delivery-log/run-flow.ts';
import { interruptionsMax, isUnder, type RunEvent, toCancelTaken } from '../../delivery-log/run-life.ts';
import {
  type FactoryPlaces,
  findNext,
  type QueueHead,
  sharePlaces,
} from '../../delivery-log/share-places.ts';
import { followReport } from '../../delivery-log/stored-rows.ts';
import { packRuns } from '../../delivery-log/thread/batch.ts';
import type { AsyncVerbTable } from '../../delivery-log/thread/wire.ts';
import type {
  ClaimedRuns,
  Replay,
  ReportedRun,
  ReportKept,
  Run,
  RunAttempt,
  RunClaim,
  RunnerPlaces,
} from '../../ports/delivery-log.ts';
import { inTransaction } from '../connection/pool.ts';
import { isPartitionMissing } from '../connection/postgres-failure.ts';
import { toColumns, toStorableText } from '../connection/text.ts';
import { type Lease, OwnClaims } from './lease.ts';
import { toDay } from './partitions.ts';
import { isPausedRun, lockPauses, preparePauseVerbs, releaseResumed } from './pauses.ts';
import { isDelivery, runnerOfRun, toIdValues } from './rows.ts';
import { changeRun, changeRuns, columnsToChange, type StoredRun, supersedeEarlier } from './run-changes.ts';
import type { PostgresSnapshots } from './snapshots.ts';

/** The queue of runs, which all replicas share. */
export function prepareRuns(pool: Pool, lease: Lease, snapshots: PostgresSnapshots) {
  const happens = async (id: string, event: RunEvent) => (await changeRun(pool, id, event)) !== undefined;
  return {
    ...prepareClaims(pool, lease),
    ...prepareForgetting(pool),
    ...preparePauseVerbs(pool),
    cancelRun: async ({ id, cancel }) =>
      toCancelTaken(await changeRun(pool, id, { kind: 'cancelled', cancel })),
    retryRun: ({ id, nowMs }) => happens(id, { kind: 'retried', atMs: nowMs }),
    approveRun: ({ id, approval }) => happens(id, { kind: 'approved', approval }),
    dismissRun: id => happens(id, { kind: 'dismissed' }),
    recordReport: given => inTransaction(pool, client => recordReport(client, given)),
    correctDueTimes: async ({ nowMs, backMs }) => {
      const changed = [
        await pool.query(`${correctDueTimes} AND state = 'queued'`, [nowMs, backMs]),
        await pool.query(`${correctDueTimes} AND state = 'parked' AND id IN (${selectParked})`, [
          nowMs,
          backMs,
        ]),
      ];
      for (const text of correctWaits) changed.push(await pool.query(text, [nowMs]));
      return changed.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
    },
    replay: async replay => {
      const record = inTransaction(pool, client => recordReplay(client, replay, snapshots));
      const isRecorded = await record.catch((error: unknown) => {
        // Retention is dropping its day: the partition of its runs is gone, or about to be.
        if (isPartitionMissing(error)) return false;
        throw error;
      });
      if (isRecorded) await supersedeEarlier(pool, packRuns(replay.runs), replay.nowMs);
      return isRecorded;
    },
  } satisfies Partial<AsyncVerbTable>;
}

async function recordReport(
  client: PoolClient,
  { report, countMax, ...attempt }: ReportedRun,
): Promise<ReportKept> {
  const select = `SELECT ${columnsToChange} FROM hookmill.runs WHERE id = $1 FOR UPDATE`;
  const [row] = (await client.query<StoredRun>(select, [attempt.id])).rows;
  const run = row && toLife(row);
  if (!run || !isUnder(run, attempt)) return 'lost';
  const next = followReport(run.report, { report, countMax });
  if (!next) return 'too-many';
  const values = [attempt.id, toStorableText(JSON.stringify(next))];
  await client.query('UPDATE hookmill.runs SET report = $2 WHERE id = $1', values);
  return 'recorded';
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
  /** The rows of what was claimed here, so that a result need not read them again. */
  const rows = new Map<string, StoredRun>();
  const requeue = (claimedBy: string) => requeueAbandoned(pool, claimedBy, own.list(claimedBy));
  /** Changes a run that was claimed here and is no longer executed; false if it is not running under that claim. */
  const end = async (attempt: RunAttempt, event: RunEvent): Promise<boolean> => {
    const ended = await changeRun(pool, attempt.id, event, rows.get(attempt.id));
    rows.delete(attempt.id);
    own.end(attempt);
    return ended !== undefined;
  };
  const claimAndRemember = async ({ daemonId, ...given }: RunClaim): Promise<ClaimedRuns> => {
    const claimedBy = await lease.hold(daemonId);
    const claim = { ...given, daemonId: claimedBy };
    // Apart from the claim, because each of the two locks lanes in order.
    await requeue(claimedBy);
    await releaseResumed(pool, claim.nowMs);
    const { taken, own: toCancel } = await takeToCancel(pool, claim);
    const claimed = await inTransaction(pool, client =>
      claimDue({ client, rows }, claim, taken.length === 0),
    );
    const runs = [...taken, ...claimed.runs];
    own.add(runs, claimedBy);
    return { ...claimed, runs, ...(toCancel.length > 0 && { toCancel }) };
  };
  return {
    claimRuns: given => own.inOrder(() => claimAndRemember(given)),
    finishRun: result => end(result, { kind: 'ended', result }),
    awaitReport: ({ untilMs, ...attempt }) => end(attempt, { kind: 'waits', attempt, untilMs }),
    postponeRun: postponement => end(postponement, { kind: 'postponed', postponement }),
    requeueRunsOfOthers: daemonId =>
      own.inOrder(async () => {
        await acquit(pool);
        const requeued = await requeue(await lease.hold(daemonId));
        await pool.query('SELECT hookmill.release_all_lanes()');
        return requeued;
      }),
  } satisfies Partial<AsyncVerbTable>;
}

/** Whether the lease of the daemon `$1` lasts: without it, nothing is claimed. */
const isHeld =
  'EXISTS (SELECT FROM hookmill.replicas WHERE replicas.id = $1 AND lease_until > clock_timestamp())';

/**
 * Queues the runs whose daemon has no lease any more. Also those that this daemon does not know to be its own: the answer
 * to their claim was lost, or a failover undid their result.
 */
async function requeueAbandoned(pool: Pool, claimedBy: string, own: readonly string[]): Promise<number> {
  const select = `SELECT ${columnsToChange} FROM hookmill.runs
    WHERE state = 'running' AND claimed_by IS NOT NULL AND (claimed_by = $1 AND id <> ALL ($2) OR NOT EXISTS (
      SELECT FROM hookmill.replicas WHERE replicas.id = claimed_by AND lease_until > clock_timestamp()))`;
  if ((await pool.query(`${select} LIMIT 1`, [claimedBy, own])).rowCount === 0) return 0;
  return inTransaction(pool, async client => {
    const { rows } = await client.query<StoredRun>(`${select} FOR UPDATE SKIP LOCKED`, [claimedBy, own]);
    const changed = await changeRuns(client, rows, daemonGone);
    for (const { run, change } of changed)
      if (change.notBeforeMs !== undefined)
        await client.query(postponeSuspects, [change.notBeforeMs + 1, run.id]);
    return changed.length;
  });
}

const daemonGone = (): RunEvent => ({ kind: 'daemon gone', atMs: Date.now() });

const isSuspect = "state = 'queued' AND interrupted IS NOT NULL AND (interrupted::jsonb ->>";

// While one waits, no other suspect is tried: if that ended the daemon, the one that waits would be acquitted.
const postponeSuspects = `
  UPDATE hookmill.runs SET not_before_ms = $1 WHERE ${isSuspect} 'times')::integer >= ${interruptionsMax}
    AND not_before_ms < $1 AND id <> $2`;

/** Acquits those that were tried alone, and did not run when a daemon ended. */
function acquit(pool: Pool): Promise<unknown> {
  const select = `SELECT ${columnsToChange} FROM hookmill.runs WHERE ${isSuspect} 'alone')::integer > 0 FOR UPDATE`;
  return inTransaction(pool, async client =>
    changeRuns(client, (await client.query<StoredRun>(select)).rows, daemonGone),
  );
}

/**
 * Claims the runs to cancel that no daemon has, each by a transaction of its own, because they may be in lanes. Returns
 * them, and the IDs of those that this daemon has.
 */
async function takeToCancel(
  pool: Pool,
  { daemonId, nowMs }: RunClaim,
): Promise<{ readonly taken: readonly Run[]; readonly own: readonly string[] }> {
  const { rows } = await pool.query<{ id: string; isOwn: boolean }>(
    `SELECT id, claimed_by IS NOT NULL AS "isOwn" FROM hookmill.runs
    WHERE cancel IS NOT NULL AND state IN ('queued', 'parked', 'running')
      AND (claimed_by IS NULL AND not_before_ms <= $2 OR claimed_by = $1) LIMIT ${cancelsMax}`,
    [daemonId, nowMs],
  );
  const taken: Run[] = [];
  for (const { id } of rows.filter(({ isOwn }) => !isOwn)) {
    const event: RunEvent = { kind: 'claimed', for: 'cancel', by: daemonId, atMs: nowMs };
    const changed = await inTransaction(pool, async client => {
      const select = `SELECT ${columnsToChange} FROM hookmill.runs WHERE id = $2 AND ${isHeld} FOR UPDATE`;
      return changeRuns(client, (await client.query<StoredRun>(select, [daemonId, id])).rows, () => event);
    });
    taken.push(...changed.map(({ run }) => run));
  }
  return { taken, own: rows.filter(({ isOwn }) => isOwn).map(({ id }) => id) };
}

/**
 * Claims the runs of each runner that wait longest. Those that another replica is claiming at the same time are left to
 * it.
 */
async function claimDue(deps: ClaimDeps, claim: RunClaim, isFirst: boolean): Promise<ClaimedRuns> {
  const { client } = deps;
  const { daemonId, nowMs, dueMs = nowMs, places, alone } = claim;
  while (alone) {
    const { rows } = await client.query<DueRun>(lockAlone, [daemonId, nowMs, nowMs, alone.runners]);
    if (rows.length === 0) break;
    if (!alone.isIdle || !isFirst) return { runs: [], alone: 'waits' };
    // One that must wait for other runs is not due any more.
    const { started } = await decide(deps, rows, claim, 'alone');
    if (started.length > 0) return { runs: started, alone: 'claimed' };
  }
  const runs: Run[] = [];
  const stopped: Run[] = [];
  let decisions = 0;
  const selectHeads = async () => (await client.query<QueueHead>(selectNext)).rows;
  const heads = await selectHeads();
  let waiting = heads.filter(({ runner, atMs }) => atMs <= dueMs && (places[runner] ?? 0) > 0);
  while (waiting.length > 0 && decisions < flowDecisionsMax) {
    const shares = await shareInTurns(client, waiting, leaveFree(places, runs));
    if (shares.length === 0) break;
    const columns = toColumns(shares, ['runner', 'factory', 'count']);
    const due = await client.query<DueRun>(lockDue, [daemonId, nowMs, dueMs, ...columns]);
    const found = await decide(deps, due.rows, claim, 'attempt');
    runs.push(...found.started);
    stopped.push(...found.stopped);
    decisions += due.rows.filter(mayStop).length;
    const passed = listPassed(shares, due.rows);
    waiting = waiting.filter(head => !passed.some(share => isSameQueue(share, head)));
  }
  const free = leaveFree(places, runs);
  const left = runs.length + decisions > 0 && Object.keys(free).length > 0 ? await selectHeads() : heads;
  return { runs, ...findNext(left, places, free), ...(stopped.length > 0 && { stopped }) };
}

/** Shares out the free places of each runner. */
async function shareInTurns(
  client: PoolClient,
  waiting: readonly QueueHead[],
  free: RunnerPlaces,
): Promise<FactoryPlaces[]> {
  const queues = [...Map.groupBy(waiting, ({ runner }) => runner)];
  const isShared = queues.some(([, heads]) => heads.length > 1);
  const running = isShared ? (await client.query<Queue>(selectRunning)).rows : [];
  return queues.flatMap(([name, heads]) => {
    const own = running.filter(({ runner }) => runner === name);
    return sharePlaces(
      heads,
      own.map(({ factory }) => factory),
      free[name] ?? 0,
    );
  });
}

/** The factories that had fewer due runs than places. A decision may have let another run of a lane be due. */
function listPassed(shares: readonly FactoryPlaces[], due: readonly DueRun[]): FactoryPlaces[] {
  return shares.filter(share => {
    const own = due.filter(run => isSameQueue(run, share));
    return own.length < share.count && !own.some(mayStop);
  });
}

const mayStop = ({ hasFlow, isPaused }: DueRun) => hasFlow || isPaused;

type Queue = Pick<QueueHead, 'runner' | 'factory'>;

const isSameQueue = (one: Queue, other: Queue) =>
  one.runner === other.runner && one.factory === other.factory;

interface ClaimDeps {
  readonly client: PoolClient;
  /** Gets the rows of what is claimed. */
  readonly rows: Map<string, StoredRun>;
}

/** Starts, parks or stops due runs that are locked. */
async function decide(
  { client, rows }: ClaimDeps,
  due: readonly DueRun[],
  { daemonId, nowMs }: RunClaim,
  claimFor: 'attempt' | 'alone',
): Promise<{ readonly started: readonly Run[]; readonly stopped: readonly Run[] }> {
  const paused = await lockPauses(
    client,
    due.filter(({ isPaused }) => isPaused),
  );
  const flowing = due.flatMap(({ id, hasFlow, isPaused }) => (hasFlow && !isPaused ? [id] : []));
  const obstacles = new Map<string, Obstacle | null>();
  if (flowing.length > 0) {
    const { rows } = await client.query<{ id: string; obstacle: Obstacle | null }>(
      'SELECT id, obstacle FROM hookmill.decide_runs($1, $2)',
      [flowing, nowMs],
    );
    for (const { id, obstacle } of rows) obstacles.set(id, obstacle);
  }
  const decided = due.filter(({ id, isPaused }) => !isPaused || paused.has(id));
  const changed = await changeRuns(client, decided, ({ id }) => {
    const obstacle = paused.has(id) ? 'paused' : obstacles.get(id);
    if (obstacle === 'runsPerHour') return { kind: 'stopped', atMs: nowMs };
    if (obstacle) return { kind: 'parked', behind: obstacle };
    return { kind: 'claimed', for: claimFor, by: daemonId, atMs: nowMs };
  });
  for (const { stored } of changed) rows.set(stored.id, stored);
  const inState = (wanted: Run['state']) =>
    changed.filter(({ change }) => change.state === wanted).map(({ run }) => run);
  return { started: inState('running'), stopped: inState('failed') };
}

type Obstacle = 'order' | 'limit' | 'paused' | 'runsPerHour';

/** The places that are left after runs have been claimed, of the runners that have one. */
function leaveFree(places: RunnerPlaces, claimed: readonly Run[]): RunnerPlaces {
  const taken = Map.groupBy(claimed, ({ runner }) => runner);
  const left = Object.entries(places).map(
    ([name, count]) => [name, count - (taken.get(name)?.length ?? 0)] as const,
  );
  return Object.fromEntries(left.filter(([, count]) => count > 0));
}

interface DueRun extends StoredRun {
  readonly runner: string;
  readonly isPaused: boolean;
}

// A run that somebody cancels is claimed for that only.
const selectDue = `SELECT ${columnsToChange}, ${runnerOfRun} AS runner, ${isPausedRun} AS "isPaused" FROM hookmill.runs`;
const isDue = `state = 'queued' AND cancel IS NULL AND not_before_ms <= $3 AND ${isHeld}`;

const lockDue = `
  SELECT due.* FROM unnest($4::text[], $5::text[], $6::integer[]) AS share (runner, factory, count), LATERAL (
    ${selectDue} WHERE ${isDue} AND ${runnerOfRun} = share.runner AND factory = share.factory
    ORDER BY not_before_ms, seq LIMIT share.count FOR UPDATE SKIP LOCKED) AS due`;

const selectRunning = `
  SELECT ${runnerOfRun} AS runner, factory FROM hookmill.runs WHERE state = 'running' AND claimed_by IS NOT NULL`;

const lockAlone = `
  ${selectDue} WHERE ${isDue} AND interrupted IS NOT NULL AND (interrupted::jsonb ->> 'times')::integer >= ${interruptionsMax}
    AND ${runnerOfRun} = ANY ($4) ORDER BY not_before_ms, seq LIMIT 1 FOR UPDATE SKIP LOCKED`;

// The first queued run of each factory on each runner. It goes from one to the next by the index, because a group would
// read each run.
const selectHead = (after: string) => `
  SELECT ${runnerOfRun} AS runner, factory, not_before_ms FROM hookmill.runs WHERE state = 'queued' ${after}
  ORDER BY ${runnerOfRun}, factory, not_before_ms LIMIT 1`;
const selectNext = `
  WITH RECURSIVE heads AS (
    (${selectHead('')})
    UNION ALL
    SELECT next.* FROM heads, LATERAL (${selectHead(`AND (${runnerOfRun}, factory) > (heads.runner, heads.factory)`)}) AS next)
  SELECT runner, factory, not_before_ms AS "atMs" FROM heads`;

// A run that is stamped later than now was recorded or attempted before the clock was set back.
const correctDueTimes = `
  UPDATE hookmill.runs SET not_before_ms = least(not_before_ms - $2::bigint,
    CASE WHEN greatest(created_at_ms, started_at_ms) > $1::bigint
      THEN $1 + greatest(0, not_before_ms - greatest(created_at_ms, started_at_ms)) ELSE not_before_ms END)
  WHERE not_before_ms > $1`;

const selectParked =
  "SELECT run_id FROM hookmill.run_flows WHERE state = 'parked' AND waits_for <> 'approval'";

// The time of a person, of a receiver and of a pause is not shortened: it begins again.
const proposedMs = "(afterwards::jsonb ->> 'sinceMs')::bigint";
const correctWaits = [
  `UPDATE hookmill.runs SET not_before_ms = $1::bigint + not_before_ms - ${proposedMs},
    afterwards = jsonb_set(afterwards::jsonb, '{sinceMs}', to_jsonb($1::bigint))::text
  WHERE state = 'parked' AND waits_for = 'approval' AND ${proposedMs} > $1`,
  `UPDATE hookmill.runs SET waits_until_ms = $1::bigint + waits_until_ms - started_at_ms, started_at_ms = $1
  WHERE state = 'running' AND claimed_by IS NULL AND waits_until_ms IS NOT NULL AND started_at_ms > $1`,
  'UPDATE hookmill.pauses SET until_ms = $1::bigint + until_ms - at_ms, at_ms = $1 WHERE at_ms > $1',
];

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
