import { manualUid } from '../../../../schema/delivery.ts';
import { toLife } from '../../../delivery-log/life-columns.ts';
import { cancelsMax, flowDecisionsMax } from '../../../delivery-log/run-flow.ts';
import {
  interruptionsMax,
  isUnder,
  type RunChange,
  type RunEvent,
  toCancelTaken,
} from '../../../delivery-log/run-life.ts';
import { findNext, type QueueHead, sharePlaces } from '../../../delivery-log/share-places.ts';
import { followReport } from '../../../delivery-log/stored-rows.ts';
import { packRuns } from '../../../delivery-log/thread/batch.ts';
import type { VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase, Statement } from '../../../home/sqlite.ts';
import type { DueTimesCorrection, RunClaim } from '../../../ports/delivery-log.ts';
import type { Lanes, Obstacle } from './lanes.ts';
import { isPaused, type Pauses, preparePauses } from './pauses.ts';
import { type RunRow, selectRun, toRun } from './rows.ts';
import { type ChangeRun, type RunToChange, type Supersede, selectToChange } from './run-changes.ts';
import type { Series } from './series.ts';
import type { Snapshots } from './snapshots.ts';

export interface RunDeps {
  readonly snapshots: Snapshots;
  readonly series: Series;
  readonly lanes: Lanes;
  readonly change: ChangeRun;
  readonly supersede: Supersede;
}

/** The queue of runs. Each verb runs within the caller's transaction. */
export function prepareRunVerbs(
  database: SqliteDatabase,
  { snapshots, series, lanes, change, supersede }: RunDeps,
) {
  const select = database.prepare<[string], RunToChange>(`${selectToChange} WHERE id = ?`);
  const { releaseResumed, ...pauses } = preparePauses(database);
  return {
    claimRuns: prepareClaim(database, { lanes, change, releaseResumed }),
    ...pauses,
    ...prepareSteps((id, event) => {
      const run = select.get(id);
      return run && change(run, event);
    }),
    ...prepareReports(database, select),
    ...prepareRequeue(database, lanes, change),
    ...prepareForgetting(database),
    correctDueTimes: prepareCorrectDueTimes(database),
    replay: prepareReplay(database, { snapshots, series, supersede }),
  } satisfies Partial<VerbTable>;
}

/** The verbs that are an event in the life of one run. */
function prepareSteps(step: (id: string, event: RunEvent) => RunChange | undefined) {
  const happens = (id: string, event: RunEvent) => step(id, event) !== undefined;
  return {
    finishRun: result => happens(result.id, { kind: 'ended', result }),
    awaitReport: ({ untilMs, ...attempt }) => happens(attempt.id, { kind: 'waits', attempt, untilMs }),
    postponeRun: postponement => happens(postponement.id, { kind: 'postponed', postponement }),
    retryRun: ({ id, nowMs }) => happens(id, { kind: 'retried', atMs: nowMs }),
    approveRun: ({ id, approval }) => happens(id, { kind: 'approved', approval }),
    dismissRun: id => happens(id, { kind: 'dismissed' }),
    cancelRun: ({ id, cancel }) => toCancelTaken(step(id, { kind: 'cancelled', cancel })),
  } satisfies Partial<VerbTable>;
}

interface ClaimDeps extends Pick<Pauses, 'releaseResumed'> {
  readonly lanes: Lanes;
  readonly change: ChangeRun;
}

function prepareClaim(database: SqliteDatabase, deps: ClaimDeps): VerbTable['claimRuns'] {
  const { releaseResumed } = deps;
  const decide = prepareDecide(deps);
  const decideDue = prepareDecideDue(database, decide);
  const takeToCancel = prepareTakeToCancel(database, deps.change);
  const selectAlone = prepareSelectAlone(database);
  const selectHeads = prepareSelectHeads(database);
  const runBySeq = database.prepare<[number], RunRow>(`${selectRun} WHERE runs.seq = ?`);
  return claim => {
    releaseResumed(claim.nowMs);
    const toCancel = takeToCancel(claim);
    const read = (seqs: readonly number[]) => seqs.flatMap(seq => runBySeq.all(seq)).map(toRun);
    const others = toCancel.own.length > 0 && { toCancel: toCancel.own };
    const isIdle = claim.alone?.isIdle && toCancel.taken.length === 0;
    // One that must wait for other runs is not due any more.
    for (let run = selectAlone(claim); run; run = selectAlone(claim)) {
      if (!isIdle) return { runs: read(toCancel.taken), ...others, alone: 'waits' };
      if (decide(run, claim, 'alone') === 'start')
        return { runs: read([run.seq]), ...others, alone: 'claimed' };
    }
    const heads = selectHeads.all();
    const decided = Object.entries(claim.places).map(([runner, places]) => ({
      ...decideDue(claim, runner, places, heads),
      runner,
      places,
    }));
    const free = decided.flatMap(({ runner, places, start }) =>
      start.length < places ? [[runner, places - start.length] as const] : [],
    );
    const stopped = decided.flatMap(({ runsPerHour }) => runsPerHour);
    return {
      runs: read([...toCancel.taken, ...decided.flatMap(({ start }) => start)]),
      ...others,
      ...(stopped.length > 0 && { stopped: read(stopped) }),
      ...findNext(free.length > 0 ? selectHeads.all() : heads, claim.places, Object.fromEntries(free)),
    };
  };
}

/** Claims the runs to cancel that no daemon has. Returns their keys, and the IDs of those that this daemon has. */
function prepareTakeToCancel(database: SqliteDatabase, change: ChangeRun) {
  const isToCancel = "cancel IS NOT NULL AND state IN ('queued', 'running')";
  const selectFree = database.prepare<[number], RunToChange>(
    `${selectToChange} WHERE ${isToCancel} AND claimed_by IS NULL AND not_before_ms <= ? LIMIT ${cancelsMax}`,
  );
  const selectOwn = database.prepareColumn<[string], string>(
    `SELECT id FROM runs WHERE ${isToCancel} AND claimed_by = ?`,
  );
  return ({ daemonId, nowMs }: RunClaim) => {
    const own = selectOwn.all(daemonId);
    const taken = selectFree.all(nowMs);
    for (const run of taken) change(run, { kind: 'claimed', for: 'cancel', by: daemonId, atMs: nowMs });
    return { taken: taken.map(({ seq }) => seq), own };
  };
}

/** Selects the first due run that is to be tried alone. */
function prepareSelectAlone(database: SqliteDatabase): (claim: RunClaim) => DueRun | undefined {
  const select = database.prepare<DueParameters & { runners: string }, DueRun>(
    `${selectDueRuns} WHERE ${isDue} AND interrupted IS NOT NULL AND interrupted ->> '$.times' >= ${interruptionsMax}
      AND +runner IN (SELECT value FROM json_each(@runners)) ORDER BY not_before_ms, seq LIMIT 1`,
  );
  return ({ nowMs, alone }) =>
    alone && select.get({ nowMs, dueMs: nowMs, runners: JSON.stringify(alone.runners) });
}

/** Prepares to find the first queued run of each factory on each runner. */
function prepareSelectHeads(database: SqliteDatabase): Statement<[], QueueHead> {
  const isNext = "state = 'queued' AND parked IS NULL";
  const order = 'ORDER BY runner, factory, not_before_ms, seq LIMIT 1';
  // Goes from factory to factory by the index, because a group would read each run.
  return database.prepare<[], QueueHead>(`
    WITH RECURSIVE heads (seq) AS (
      SELECT (SELECT seq FROM runs WHERE ${isNext} ${order})
      UNION ALL
      SELECT coalesce(
        (SELECT seq FROM runs WHERE ${isNext} AND runner = before.runner AND factory > before.factory ${order}),
        (SELECT seq FROM runs WHERE ${isNext} AND runner > before.runner ${order}))
      FROM heads JOIN runs AS before USING (seq))
    SELECT runner, factory, not_before_ms AS atMs FROM heads JOIN runs USING (seq)`);
}

type Decide = (run: DueRun, claim: RunClaim, claimFor?: 'attempt' | 'alone') => Decision;

/** The keys of the due runs of a runner, by what was decided. */
type Decided = Readonly<Record<Decision, readonly number[]>>;

/** Starts, parks or stops the due runs of a runner, in turns of factories, until so many have started. */
function prepareDecideDue(
  database: SqliteDatabase,
  decide: Decide,
): (claim: RunClaim, runner: string, places: number, heads: readonly QueueHead[]) => Decided {
  const selectDue = database.prepare<
    DueParameters & { runner: string; factory: string; count: number },
    DueRun
  >(`
    ${selectDueRuns} WHERE ${isDue} AND runner = @runner AND factory = @factory
    ORDER BY not_before_ms, seq LIMIT @count`);
  const selectRunning = database.prepareColumn<[string], string>(
    "SELECT factory FROM runs WHERE state = 'running' AND claimed_by > '' AND runner = ?",
  );
  return (claim, runner, places, heads) => {
    const { nowMs, dueMs = nowMs } = claim;
    const decided: Record<Decision, number[]> = {
      start: [],
      runsPerHour: [],
      order: [],
      limit: [],
      paused: [],
    };
    let decisions = 0;
    let waiting = heads.filter(head => head.runner === runner && head.atMs <= dueMs);
    while (waiting.length > 0 && decided.start.length < places && decisions < flowDecisionsMax) {
      const running = waiting.length > 1 ? selectRunning.all(runner) : [];
      const passed = new Set<string>();
      for (const share of sharePlaces(waiting, running, places - decided.start.length)) {
        const due = selectDue.all({ ...share, nowMs, dueMs });
        for (const run of due) decided[decide(run, claim)].push(run.seq);
        const stops = due.filter(run => run.hasFlow || run.isPaused).length;
        decisions += stops;
        // A decision may have let another run of a lane be due.
        if (due.length < share.count && stops === 0) passed.add(share.factory);
      }
      waiting = waiting.filter(({ factory }) => !passed.has(factory));
    }
    return decided;
  };
}

/** Prepares to start, park or stop a due run. */
function prepareDecide({ lanes, change }: ClaimDeps): Decide {
  return (run, { daemonId, nowMs }, claimFor = 'attempt') => {
    const obstacle = run.isPaused ? 'paused' : run.hasFlow ? lanes.findObstacle(run.seq, nowMs) : null;
    if (obstacle === null) change(run, { kind: 'claimed', for: claimFor, by: daemonId, atMs: nowMs });
    else if (obstacle === 'runsPerHour') change(run, { kind: 'stopped', atMs: nowMs });
    else change(run, { kind: 'parked', behind: obstacle });
    return obstacle ?? 'start';
  };
}

interface DueRun extends RunToChange {
  readonly hasFlow: number;
  readonly isPaused: number;
}

const selectDueRuns = selectToChange.replace(
  'SELECT',
  `SELECT flow IS NOT NULL AS hasFlow, ${isPaused} AS isPaused,`,
);

/** The time by which pauses have ended, and the one by which runs are due. */
interface DueParameters {
  readonly nowMs: number;
  readonly dueMs: number;
}

// A run that somebody cancels is claimed for that only.
const isDue = "state = 'queued' AND parked IS NULL AND cancel IS NULL AND not_before_ms <= @dueMs";

type Decision = Obstacle | 'start';

function prepareReports(database: SqliteDatabase, select: Statement<[string], RunToChange>) {
  const setReport = database.prepare<[string, string]>('UPDATE runs SET report = ? WHERE id = ?');
  return {
    recordReport: ({ report, countMax, ...attempt }) => {
      const row = select.get(attempt.id);
      const run = row && toLife(row);
      if (!run || !isUnder(run, attempt)) return 'lost';
      const next = followReport(run.report, { report, countMax });
      if (!next) return 'too-many';
      setReport.run(JSON.stringify(next), attempt.id);
      return 'recorded';
    },
  } satisfies Partial<VerbTable>;
}

function prepareRequeue(database: SqliteDatabase, lanes: Lanes, change: ChangeRun) {
  const select = database.prepare<[string], RunToChange>(
    `${selectToChange} WHERE state = 'running' AND claimed_by <> ?`,
  );
  const { acquit, interrupt } = prepareInterrupt(database, change);
  return {
    requeueRunsOfOthers: daemonId => {
      acquit();
      const left = select.all(daemonId);
      interrupt(left);
      lanes.releaseAll();
      return left.length;
    },
  } satisfies Partial<VerbTable>;
}

/** Changes runs when a daemon has ended: those that it had, and those that were tried alone before. */
export function prepareInterrupt(database: SqliteDatabase, change: ChangeRun) {
  const isSuspect = "state = 'queued' AND interrupted IS NOT NULL AND interrupted ->>";
  const selectTried = database.prepare<[], RunToChange>(`${selectToChange} WHERE ${isSuspect} '$.alone' > 0`);
  // While one waits, no other suspect is tried: if that ended the daemon, the one that waits would be acquitted.
  const postponeOthers = database.prepare<{ untilMs: number; seq: number }>(`
    UPDATE runs SET not_before_ms = @untilMs WHERE ${isSuspect} '$.times' >= ${interruptionsMax}
      AND not_before_ms < @untilMs AND seq <> @seq`);
  const endDaemonOf = (run: RunToChange) => change(run, { kind: 'daemon gone', atMs: Date.now() });
  return {
    acquit: () => {
      for (const run of selectTried.all()) endDaemonOf(run);
    },
    interrupt: (runs: readonly RunToChange[]) => {
      for (const run of runs) {
        const { notBeforeMs } = endDaemonOf(run) ?? {};
        if (notBeforeMs !== undefined) postponeOthers.run({ untilMs: notBeforeMs + 1, seq: run.seq });
      }
    },
  };
}

/** Forgets what somebody has looked at. */
function prepareForgetting(database: SqliteDatabase) {
  const forgetIn = (table: 'failures' | 'run_ends') => {
    const forget = database.prepare<[number]>(`DELETE FROM ${table} WHERE seq = ?`);
    return (seqs: readonly number[]) => seqs.reduce((sum, seq) => sum + forget.run(seq).changes, 0);
  };
  return {
    forgetEnds: forgetIn('run_ends'),
    forgetFailures: forgetIn('failures'),
  } satisfies Partial<VerbTable>;
}

function prepareCorrectDueTimes(database: SqliteDatabase): VerbTable['correctDueTimes'] {
  // A run that is stamped later than now was recorded or attempted before the clock was set back.
  const stamp = 'max(created_at_ms, coalesce(started_at_ms, 0))';
  const correct = (parked: string) => `
    UPDATE runs SET not_before_ms = min(
      not_before_ms - @backMs,
      iif(${stamp} > @nowMs, @nowMs + max(0, not_before_ms - ${stamp}), not_before_ms))
    WHERE state = 'queued' AND parked ${parked} AND not_before_ms > @nowMs`;
  // The time of a person, of a receiver and of a pause is not shortened: it begins again.
  const proposedMs = "(afterwards ->> '$.sinceMs')";
  const corrections = [
    correct('IS NULL'),
    correct("IN ('order', 'limit', 'paused')"),
    `UPDATE runs SET not_before_ms = @nowMs + not_before_ms - ${proposedMs},
      afterwards = json_set(afterwards, '$.sinceMs', @nowMs)
    WHERE parked = 'approval' AND ${proposedMs} > @nowMs`,
    `UPDATE runs SET waits_until_ms = @nowMs + waits_until_ms - started_at_ms, started_at_ms = @nowMs
    WHERE state = 'running' AND claimed_by IS NULL AND waits_until_ms IS NOT NULL AND started_at_ms > @nowMs`,
    `UPDATE pauses SET until_ms = @nowMs + until_ms - at_ms, at_ms = @nowMs WHERE at_ms > @nowMs`,
  ].map(text => database.prepare<DueTimesCorrection>(text));
  return correction => corrections.reduce((sum, part) => sum + part.run(correction).changes, 0);
}

function prepareReplay(
  database: SqliteDatabase,
  { snapshots, series, supersede }: Pick<RunDeps, 'snapshots' | 'series' | 'supersede'>,
): VerbTable['replay'] {
  const insertManual = database.prepare(
    'INSERT INTO deliveries (id, series, at_ms, size, headers, payload) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const selectStored = database.prepare<[string], { delivery: number; factory: string }>(`
    SELECT seq AS delivery, factory FROM deliveries JOIN series ON key = series
    WHERE id = ? AND outcome IN ('Accepted', 'Manual')`);
  const insertReplay = database.prepare(`
    INSERT INTO runs (id, delivery, factory, automation, replay, manual, snapshot, not_before_ms, created_at_ms, flow, again_of)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const takeDeliveries = database.prepare<[number, string]>(`
    INSERT INTO run_deliveries (run, delivery)
    SELECT ?, run_deliveries.delivery FROM runs JOIN run_deliveries ON run = runs.seq WHERE runs.id = ?
    ORDER BY run_deliveries.seq`);
  const countDeliveries = database.prepare<{ run: number; of: string }>(`
    UPDATE runs SET (delivery_count, delivery_bytes) =
      (SELECT delivery_count, delivery_bytes FROM runs WHERE id = @of) WHERE seq = @run`);
  return ({ deliveryId, runs, appliedState, nowMs, manual }) => {
    if (manual) {
      const { payload, headers } = manual;
      const key = series.store({ ...manual, uid: manualUid }, 'Manual');
      insertManual.run(deliveryId, key, nowMs, payload.length, JSON.stringify(headers), payload);
    }
    const origin = manual ? [0, 1] : [1, null];
    const stored = selectStored.get(deliveryId);
    if (!stored) return false;
    const snapshot = snapshots.store(appliedState);
    snapshots.addUses(snapshot, runs.length);
    const { delivery, factory } = stored;
    for (const packed of packRuns(runs)) {
      const { id, automation, flow = null, againOf = null } = packed;
      const { lastInsertRowid: run } = insertReplay.run(
        ...([id, delivery, factory, automation, ...origin, snapshot, nowMs, nowMs, flow, againOf] as const),
      );
      supersede(packed, nowMs);
      if (againOf === null || takeDeliveries.run(run, againOf).changes === 0) continue;
      countDeliveries.run({ run, of: againOf });
    }
    return true;
  };
}
