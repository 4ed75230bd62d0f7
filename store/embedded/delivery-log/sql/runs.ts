import { parseJsonText } from '../../../../json/parse-json-text.ts';
import { manualUid } from '../../../../schema/delivery.ts';
import {
  attemptErrorCharsMax,
  attemptsKeptMax,
  flowDecisionsMax,
  setInterrupted,
  stopReason,
} from '../../../delivery-log/run-flow.ts';
import { followReport } from '../../../delivery-log/stored-rows.ts';
import { packRuns } from '../../../delivery-log/thread/batch.ts';
import type { VerbTable } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { DueTimesCorrection, RunAttempt, RunClaim, RunReport } from '../../../ports/delivery-log.ts';
import { type Cancels, prepareCancels } from './cancels.ts';
import { type Lanes, type Obstacle, prepareLanes, type RunLanes, selectLanes } from './lanes.ts';
import { isPaused, type Pauses, preparePauses } from './pauses.ts';
import { type RunRow, selectRun, toRun } from './rows.ts';
import type { Series } from './series.ts';
import type { Snapshots } from './snapshots.ts';

/** The queue of runs. Each verb runs within the caller's transaction. */
export function prepareRunVerbs(database: SqliteDatabase, snapshots: Snapshots, series: Series) {
  const lanes = prepareLanes(database);
  const { takeToCancel, cancelRun } = prepareCancels(database, lanes);
  const { releaseResumed, ...pauses } = preparePauses(database);
  return {
    claimRuns: prepareClaim(database, lanes, { takeToCancel, releaseResumed }),
    cancelRun,
    ...pauses,
    ...prepareEnds(database, lanes),
    ...prepareRetries(database, lanes),
    replay: prepareReplay(database, snapshots, series),
  } satisfies Partial<VerbTable>;
}

function prepareClaim(
  database: SqliteDatabase,
  lanes: Lanes,
  { takeToCancel, releaseResumed }: Pick<Cancels & Pauses, 'takeToCancel' | 'releaseResumed'>,
): VerbTable['claimRuns'] {
  const decideDue = prepareDecideDue(database, lanes);
  const runBySeq = database.prepare<[number], RunRow>(`${selectRun} WHERE runs.seq = ?`);
  const isWaiting = "state = 'queued' AND parked IS NULL";
  const selectNextDue = database.prepareColumn<[string], number>(
    `SELECT not_before_ms FROM runs WHERE ${isWaiting} AND runner = ? ORDER BY not_before_ms LIMIT 1`,
  );
  // Goes from name to name by the index, because DISTINCT would read each run.
  const selectRunners = database.prepareColumn<[], string>(`
      WITH RECURSIVE names (name) AS (
        SELECT min(runner) FROM runs WHERE ${isWaiting}
        UNION ALL
        SELECT (SELECT min(runner) FROM runs WHERE ${isWaiting} AND runner > name) FROM names WHERE name IS NOT NULL)
      SELECT name FROM names WHERE name IS NOT NULL`);

  return claim => {
    releaseResumed(claim.nowMs);
    const toCancel = takeToCancel(claim);
    const started: number[] = [];
    const stopped: number[] = [];
    const nextDueMs: number[] = [];
    for (const [runner, places] of Object.entries(claim.places)) {
      const decided = decideDue(claim, runner, places);
      started.push(...decided.start);
      stopped.push(...decided.runsPerHour);
      if (decided.start.length < places) nextDueMs.push(...selectNextDue.all(runner));
    }
    const otherRunners = selectRunners.all().filter(name => claim.places[name] === undefined);
    const read = (seqs: readonly number[]) => seqs.flatMap(seq => runBySeq.all(seq)).map(toRun);
    return {
      runs: read([...toCancel.taken, ...started]),
      ...(toCancel.own.length > 0 && { toCancel: toCancel.own }),
      ...(stopped.length > 0 && { stopped: read(stopped) }),
      ...(nextDueMs.length > 0 && { nextDueMs: Math.min(...nextDueMs) }),
      ...(otherRunners.length > 0 && { otherRunners }),
    };
  };
}

/** Starts, parks or stops the due runs of a runner, until so many have started. Returns their keys by what was decided. */
function prepareDecideDue(
  database: SqliteDatabase,
  lanes: Lanes,
): (claim: RunClaim, runner: string, places: number) => Readonly<Record<Decision, readonly number[]>> {
  const selectDue = database.prepare<{ runner: string; nowMs: number; limit: number }, DueRun>(`
    SELECT seq, flow IS NOT NULL AS hasFlow, ${isPaused} AS isPaused, ${selectLanes} FROM runs
    WHERE state = 'queued' AND parked IS NULL AND runner = @runner AND not_before_ms <= @nowMs
    ORDER BY not_before_ms, seq LIMIT @limit`);
  const decide = prepareDecide(database, lanes);
  return (claim, runner, places) => {
    const decided: Record<Decision, number[]> = {
      start: [],
      runsPerHour: [],
      order: [],
      limit: [],
      paused: [],
    };
    let decisions = 0;
    let due: readonly DueRun[];
    do {
      due = selectDue.all({ runner, nowMs: claim.nowMs, limit: places - decided.start.length });
      for (const run of due) decided[decide(run, claim)].push(run.seq);
      decisions += due.length;
    } while (
      decided.start.length < places &&
      decisions < flowDecisionsMax &&
      due.some(run => run.hasFlow || run.isPaused)
    );
    return decided;
  };
}

/** Starts, parks or stops a due run. */
function prepareDecide(database: SqliteDatabase, lanes: Lanes): (run: DueRun, claim: RunClaim) => Decision {
  const start = database.prepare<{ seq: number; daemonId: string; nowMs: number }>(`
    UPDATE runs SET state = 'running', attempts = attempts + 1, claims = claims + 1, claimed_by = @daemonId,
      started_at_ms = @nowMs, finished_at_ms = NULL, waits_until_ms = NULL, gathers = NULL,
      report = iif(afterwards IS NULL, NULL, report), history = ${beginAttempt('@nowMs')}
    WHERE seq = @seq`);
  const stop = database.prepare<{ seq: number; nowMs: number; error: string }>(`
    UPDATE runs SET state = 'failed', finished_at_ms = @nowMs, error = @error, stopped = 1, gathers = NULL
    WHERE seq = @seq`);
  return ({ seq, hasFlow, isPaused, ...own }: DueRun, { daemonId, nowMs }: RunClaim): Decision => {
    const obstacle = isPaused ? 'paused' : hasFlow ? lanes.findObstacle(seq, nowMs) : null;
    if (obstacle === null) start.run({ seq, daemonId, nowMs });
    else if (obstacle === 'runsPerHour') stop.run({ seq, nowMs, error: stopReason });
    else lanes.park(seq, obstacle);
    // A run that the limit does not stop lets claims look at the next one of its lane: there may be more places.
    if (hasFlow && obstacle !== 'limit')
      lanes.release(obstacle === 'runsPerHour' ? own : { ...own, orderLane: null });
    return obstacle ?? 'start';
  };
}

interface DueRun extends RunLanes {
  readonly seq: number;
  readonly hasFlow: number;
  readonly isPaused: number;
}

type Decision = Obstacle | 'start';

/** The ends of attempts, which may let others start. */
function prepareEnds(database: SqliteDatabase, lanes: Lanes) {
  const isClaimed = "id = @id AND state = 'running' AND claimed_by IS @claimedBy AND claims = @claims";
  const finish = database.prepare<
    ClaimColumns & { state: string; atMs: number; error: string | null },
    RunLanes
  >(`
    UPDATE runs SET state = @state, finished_at_ms = @atMs, error = @error, claimed_by = NULL, waits_until_ms = NULL,
      cancel = iif(@state = 'cancelled', cancel, NULL), history = ${endAttempt('@atMs', '@error')}
    WHERE ${isClaimed} RETURNING ${selectLanes}`);
  const postpone = database.prepare<ClaimColumns & PostponementColumns, RunLanes>(`
    UPDATE runs SET state = 'queued', not_before_ms = @notBeforeMs, error = @error, claimed_by = NULL,
      waits_until_ms = NULL, attempts = iif(@afterwards IS NULL, attempts - @uncounted, 0), parked = @parked,
      afterwards = coalesce(afterwards, @afterwards),
      history = iif(@uncounted, ${forgetAttempt}, ${endAttempt('@atMs', '@error')})
    WHERE ${isClaimed} RETURNING ${selectLanes}`);
  const wait = database.prepare<ClaimColumns & { untilMs: number }>(`
    UPDATE runs SET waits_until_ms = @untilMs, claimed_by = NULL WHERE ${isClaimed}`);
  const selectReport = database.prepare<ClaimColumns, { report: string | null }>(
    `SELECT report FROM runs WHERE ${isClaimed}`,
  );
  const setReport = database.prepare<[string, string]>('UPDATE runs SET report = ? WHERE id = ?');
  const requeue = database.prepare<[string]>(`
    UPDATE runs SET ${setInterrupted("CAST(unixepoch('subsec') * 1000 AS INTEGER)", endAttempt)}
    WHERE state = 'running' AND claimed_by <> ?`);
  const end = (ended: readonly RunLanes[]): boolean => {
    for (const own of ended) lanes.release(own);
    return ended.length > 0;
  };
  return {
    finishRun: result => end(finish.all({ ...noDaemon, ...result, error: result.error ?? null })),
    awaitReport: given => wait.run({ ...noDaemon, ...given }).changes > 0,
    recordReport: ({ report, countMax, ...attempt }) => {
      const known = selectReport.get({ ...noDaemon, ...attempt });
      if (!known) return 'lost';
      const before = known.report === null ? null : (parseJsonText(known.report) as RunReport);
      const next = followReport(before, { report, countMax });
      if (!next) return 'too-many';
      setReport.run(JSON.stringify(next), attempt.id);
      return 'recorded';
    },
    postponeRun: ({ attempted, error, second, ...given }) =>
      end(
        postpone.all({
          ...{ ...noDaemon, ...given, uncounted: attempted ? 0 : 1, error: error ?? null },
          afterwards: second ? JSON.stringify({ sinceMs: second.sinceMs }) : null,
          parked: second?.waitsForApproval ? 'approval' : null,
        }),
      ),
    requeueRunsOfOthers: daemonId => {
      const { changes } = requeue.run(daemonId);
      lanes.releaseAll();
      return changes;
    },
  } satisfies Partial<VerbTable>;
}

/** A run that waits for its receiver is claimed by no daemon. */
type ClaimColumns = Omit<RunAttempt, 'claimedBy'> & { readonly claimedBy: string | null };

const noDaemon = { claimedBy: null };

interface PostponementColumns {
  readonly atMs: number;
  readonly notBeforeMs: number;
  readonly uncounted: number;
  readonly error: string | null;
  readonly afterwards: string | null;
  readonly parked: string | null;
}

function prepareRetries(database: SqliteDatabase, lanes: Lanes) {
  // A run that is stamped later than now was recorded or attempted before the clock was set back.
  const stamp = 'max(created_at_ms, coalesce(started_at_ms, 0))';
  const correct = (parked: string) =>
    database.prepare<DueTimesCorrection>(`
      UPDATE runs SET not_before_ms = min(
        not_before_ms - @backMs,
        iif(${stamp} > @nowMs, @nowMs + max(0, not_before_ms - ${stamp}), not_before_ms))
      WHERE state = 'queued' AND parked ${parked} AND not_before_ms > @nowMs`);
  const corrections = [correct('IS NULL'), correct('IS NOT NULL')];
  const retry = database.prepare<{ id: string; nowMs: number }>(`
    UPDATE runs SET state = 'queued', attempts = 0, not_before_ms = @nowMs, finished_at_ms = NULL, stopped = NULL,
      dismissed = NULL, cancel = NULL
    WHERE id = @id AND state = 'failed'`);
  const approve = database.prepare<{ id: string; approval: string; atMs: number }>(`
    UPDATE runs SET parked = NULL, not_before_ms = @atMs,
      afterwards = json_set(afterwards, '$.approval', json(@approval))
    WHERE id = @id AND state = 'queued' AND parked = 'approval' AND cancel IS NULL`);
  const dismiss = database.prepare<[string], RunLanes>(`
    UPDATE runs SET dismissed = 1 WHERE id = ? AND state = 'failed' RETURNING ${selectLanes}`);
  const forget = database.prepare<[number]>('DELETE FROM failures WHERE seq = ?');
  const forgetEnd = database.prepare<[number]>('DELETE FROM run_ends WHERE seq = ?');
  return {
    forgetEnds: ends => ends.reduce((sum, end) => sum + forgetEnd.run(end).changes, 0),
    forgetFailures: failures => failures.reduce((sum, failure) => sum + forget.run(failure).changes, 0),
    correctDueTimes: correction => corrections.reduce((sum, part) => sum + part.run(correction).changes, 0),
    retryRun: ({ id, nowMs }) => retry.run({ id, nowMs }).changes > 0,
    approveRun: ({ id, approval }) =>
      approve.run({ id, approval: JSON.stringify(approval), atMs: approval.atMs }).changes > 0,
    dismissRun: id => {
      const [dismissed] = dismiss.all(id);
      if (dismissed) lanes.release({ ...dismissed, limitLane: null });
      return dismissed !== undefined;
    },
  } satisfies Partial<VerbTable>;
}

function prepareReplay(database: SqliteDatabase, snapshots: Snapshots, series: Series): VerbTable['replay'] {
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
    for (const { id, automation, flow = null, againOf = null } of packRuns(runs)) {
      const { lastInsertRowid: run } = insertReplay.run(
        ...([id, delivery, factory, automation, ...origin, snapshot, nowMs, nowMs, flow, againOf] as const),
      );
      if (againOf === null || takeDeliveries.run(run, againOf).changes === 0) continue;
      countDeliveries.run({ run, of: againOf });
    }
    return true;
  };
}

// What SQL sets as the `history` of a run.

/** Whether the last attempt is being made. */
const isOpen = "history ->> '$[#-1].startedAtMs' IS NOT NULL AND history ->> '$[#-1].endedAtMs' IS NULL";

/** The history with the attempt that begins, and without the oldest one of too many. `atMs` is an expression. */
function beginAttempt(atMs: string): string {
  const before = `iif(json_array_length(history) >= ${attemptsKeptMax}, json_remove(history, '$[0]'), coalesce(history, '[]'))`;
  return `json_insert(${before}, '$[#]', json_object('attempt', attempts + 1, 'startedAtMs', ${atMs}))`;
}

/** The history in which the last attempt has ended, if that was being made. Both are expressions; `error` may be null. */
export function endAttempt(atMs: string, error: string): string {
  const ended = `json_set(history, '$[#-1].endedAtMs', ${atMs})`;
  const failed = `json_set(${ended}, '$[#-1].error', substr(${error}, 1, ${attemptErrorCharsMax}))`;
  return `iif(${isOpen}, iif(${error} IS NULL, ${ended}, ${failed}), history)`;
}

/** The history without the last attempt, if that was being made: the claim was none. */
const forgetAttempt = `iif(${isOpen}, nullif(json_remove(history, '$[#-1]'), '[]'), history)`;
