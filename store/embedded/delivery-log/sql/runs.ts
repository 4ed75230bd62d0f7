import type Database from 'better-sqlite3';
import type { DueTimesCorrection, RunAttempt } from '../../../delivery-log.ts';
import type { RunVerb, VerbTable } from '../../../delivery-log-thread/wire.ts';
import { type RunRow, selectRun, toRun } from './rows.ts';
import type { Snapshots } from './snapshots.ts';

export type RunVerbs = Pick<VerbTable, RunVerb>;

/** The queue of runs. Each verb runs within the caller's transaction. */
export function prepareRunVerbs(database: Database.Database, snapshots: Snapshots): RunVerbs {
  return {
    claimRuns: prepareClaim(database),
    ...prepareRunStates(database),
    replay: prepareReplay(database, snapshots),
  };
}

function prepareClaim(database: Database.Database): RunVerbs['claimRuns'] {
  const selectDue = database
    .prepare<{ nowMs: number; limit: number }, number>(`
    SELECT seq FROM runs WHERE state = 'queued' AND not_before_ms <= @nowMs
    ORDER BY not_before_ms, seq LIMIT @limit`)
    .pluck();
  const claim = database.prepare<{ seq: number; daemonId: string; nowMs: number }>(`
    UPDATE runs SET state = 'running', attempts = attempts + 1, claims = claims + 1, claimed_by = @daemonId,
      started_at_ms = @nowMs, finished_at_ms = NULL, waits_until_ms = NULL, report = NULL
    WHERE seq = @seq`);
  const runBySeq = database.prepare<[number], RunRow>(`${selectRun} WHERE runs.seq = ?`);
  const selectNextDue = database
    .prepare<[], number>(
      `SELECT not_before_ms FROM runs WHERE state = 'queued' ORDER BY not_before_ms LIMIT 1`,
    )
    .pluck();
  return ({ daemonId, nowMs, limit }) => {
    const due = selectDue.all({ nowMs, limit });
    for (const seq of due) claim.run({ seq, daemonId, nowMs });
    const runs = due.flatMap(seq => runBySeq.all(seq)).map(toRun);
    const nextDueMs = selectNextDue.get();
    return nextDueMs === undefined ? { runs } : { runs, nextDueMs };
  };
}

function prepareRunStates(database: Database.Database): Omit<RunVerbs, 'claimRuns' | 'replay'> {
  const isClaimed = "id = @id AND state = 'running' AND claimed_by IS @claimedBy AND claims = @claims";
  const finish = database.prepare<ClaimColumns & { state: string; atMs: number; error: string | null }>(`
    UPDATE runs SET state = @state, finished_at_ms = @atMs, error = @error, claimed_by = NULL, waits_until_ms = NULL
    WHERE ${isClaimed}`);
  const postpone = database.prepare<ClaimColumns & PostponementColumns>(`
    UPDATE runs SET state = 'queued', not_before_ms = @notBeforeMs, error = @error, claimed_by = NULL,
      waits_until_ms = NULL, attempts = attempts - @uncounted
    WHERE ${isClaimed}`);
  const wait = database.prepare<ClaimColumns & { untilMs: number }>(`
    UPDATE runs SET waits_until_ms = @untilMs, claimed_by = NULL WHERE ${isClaimed}`);
  const report = database.prepare<ClaimColumns & { report: string }>(`
    UPDATE runs SET report = @report WHERE ${isClaimed}`);
  const requeue = database.prepare<[string]>(`
    UPDATE runs SET state = 'queued', claimed_by = NULL WHERE state = 'running' AND claimed_by <> ?`);
  // A run that is stamped later than now was recorded or attempted before the clock was set back.
  const stamp = 'max(created_at_ms, coalesce(started_at_ms, 0))';
  const correct = database.prepare<DueTimesCorrection>(`
    UPDATE runs SET not_before_ms = min(
      not_before_ms - @backMs,
      iif(${stamp} > @nowMs, @nowMs + max(0, not_before_ms - ${stamp}), not_before_ms))
    WHERE state = 'queued' AND not_before_ms > @nowMs`);
  const retry = database.prepare<{ id: string; nowMs: number }>(`
    UPDATE runs SET state = 'queued', attempts = 0, not_before_ms = @nowMs, finished_at_ms = NULL
    WHERE id = @id AND state = 'failed'`);
  return {
    finishRun: result => finish.run({ ...noDaemon, ...result, error: result.error ?? null }).changes > 0,
    awaitReport: given => wait.run({ ...noDaemon, ...given }).changes > 0,
    recordReport: given =>
      report.run({ ...noDaemon, ...given, report: JSON.stringify(given.report) }).changes > 0,
    postponeRun: ({ attempted, error, ...given }) =>
      postpone.run({ ...noDaemon, ...given, uncounted: attempted ? 0 : 1, error: error ?? null }).changes > 0,
    requeueRunsOfOthers: daemonId => requeue.run(daemonId).changes,
    correctDueTimes: correction => correct.run(correction).changes,
    retryRun: ({ id, nowMs }) => retry.run({ id, nowMs }).changes > 0,
  };
}

/** A run that waits for its receiver is claimed by no daemon. */
type ClaimColumns = Omit<RunAttempt, 'claimedBy'> & { readonly claimedBy: string | null };

const noDaemon = { claimedBy: null };

interface PostponementColumns {
  readonly notBeforeMs: number;
  readonly uncounted: number;
  readonly error: string | null;
}

function prepareReplay(database: Database.Database, snapshots: Snapshots): RunVerbs['replay'] {
  const selectStored = database.prepare<[string], { delivery: number; factory: string }>(`
    SELECT seq AS delivery, factory FROM deliveries JOIN series ON key = series
    WHERE id = ? AND outcome = 'Accepted'`);
  const insertReplay = database.prepare<[string, number, string, string, number, number, number]>(`
    INSERT INTO runs (id, delivery, factory, automation, replay, snapshot, not_before_ms, created_at_ms)
    VALUES (?, ?, ?, ?, 1, ?, ?, ?)`);
  return ({ deliveryId, runs, appliedState, nowMs }) => {
    const stored = selectStored.get(deliveryId);
    if (!stored) return false;
    const snapshot = snapshots.store(appliedState);
    snapshots.addUses(snapshot, runs.length);
    for (const { id, automation } of runs) {
      insertReplay.run(id, stored.delivery, stored.factory, automation, snapshot, nowMs, nowMs);
    }
    return true;
  };
}
