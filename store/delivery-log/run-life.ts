import { hasEnded, type RunState } from '../../schema/delivery.ts';
import type {
  Afterwards,
  Approval,
  CancelTaken,
  PastAttempt,
  RunAttempt,
  RunCancel,
  RunPostponement,
  RunReport,
  RunResult,
} from '../ports/delivery-log.ts';
import type { NewRunRow } from './thread/wire.ts';

/** @limit Attempts of a run that are kept with it, the newest ones: more come only of retries by hand. */
export const attemptsKeptMax = 100;
/** @limit Characters of an attempt's error that are kept with it: the run has the last one as a whole. */
export const attemptErrorCharsMax = 300;
/** @limit Attempts in a row during which the daemon ends, after which a run is tried alone: it may be what ends the daemon. */
export const interruptionsMax = 3;
/** @limit Attempts alone during which the daemon ends, after which a run fails: once may be chance. */
export const interruptionsAloneMax = 2;

/** @limit Shortest wait of a run during whose attempt alone the daemon ended, in ms. It waits twice as long as that attempt took: if a daemon ends meanwhile, the run is not the cause. */
const acquittalMsMin = 10_000;
/** @limit Longest such wait, in ms: a person who looks for what ends the daemon sees the run tried again. */
const acquittalMsMax = 600_000;

/** The error of a run that `runsPerHour` stopped. */
export const stopReason =
  'not started: the automation has reached its limit of runs per hour (runsPerHour); retry the run later';

/** The columns of a run that change while it lives. */
export interface RunLife {
  readonly state: RunState;
  /** Why claims pass over a queued run until somebody or another run lets it go on. */
  readonly parked: 'order' | 'limit' | 'paused' | 'approval' | null;
  readonly attempts: number;
  readonly claims: number;
  readonly notBeforeMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly claimedBy: string | null;
  readonly claimedFor: ClaimedFor | null;
  readonly waitsUntilMs: number | null;
  readonly report: RunReport | null;
  readonly error: string | null;
  readonly stopped: boolean | null;
  readonly dismissed: boolean | null;
  readonly cancel: RunCancel | null;
  readonly afterwards: Afterwards | null;
  readonly history: readonly PastAttempt[] | null;
  readonly interrupted: Interrupted | null;
}

/** An attempt, one while the daemon executes nothing else, or the end of what a cancelled run has started. */
export type ClaimedFor = 'attempt' | 'alone' | 'cancel';

/** The last attempts in a row that a daemon did not survive. */
export interface Interrupted {
  readonly times: number;
  readonly alone: number;
}

/** Something that happens to a run. */
export type RunEvent =
  | { readonly kind: 'claimed'; readonly for: ClaimedFor; readonly by: string; readonly atMs: number }
  | { readonly kind: 'parked'; readonly behind: 'order' | 'limit' | 'paused' }
  | { readonly kind: 'stopped'; readonly atMs: number }
  | { readonly kind: 'waits'; readonly attempt: RunAttempt; readonly untilMs: number }
  | { readonly kind: 'ended'; readonly result: RunResult }
  | { readonly kind: 'postponed'; readonly postponement: RunPostponement }
  | { readonly kind: 'daemon gone'; readonly atMs: number }
  | { readonly kind: 'cancelled'; readonly cancel: RunCancel }
  | Superseded
  | { readonly kind: 'approved'; readonly approval: Approval }
  | { readonly kind: 'retried'; readonly atMs: number }
  | { readonly kind: 'dismissed' };

/** A newer run of the same order came, which is to be the only one. */
export interface Superseded {
  readonly kind: 'superseded';
  /** Its ID. */
  readonly by: string;
  readonly atMs: number;
  readonly cancelRunning: boolean;
}

/** The columns that an event changes. */
export type RunChange = Partial<RunLife>;

/**
 * The life of a run: returns what an event changes, or undefined if the event comes too late. A result counts only for the
 * claim that it was made under.
 */
export function live(run: RunLife, event: RunEvent): RunChange | undefined {
  switch (event.kind) {
    case 'claimed':
      return event.for === 'cancel' ? claimToCancel(run, event.by) : claimAttempt(run, event);
    case 'parked':
      return run.state === 'queued' ? { parked: event.behind } : undefined;
    case 'stopped':
      return run.state === 'queued'
        ? { state: 'failed', finishedAtMs: event.atMs, error: stopReason, stopped: true }
        : undefined;
    case 'waits':
      return isUnder(run, event.attempt)
        ? { waitsUntilMs: event.untilMs, claimedBy: null, claimedFor: null }
        : undefined;
    case 'ended':
      return isUnder(run, event.result) ? end(run, event.result) : undefined;
    case 'postponed':
      return isUnder(run, event.postponement) ? postpone(run, event.postponement) : undefined;
    case 'daemon gone':
      if (run.state === 'queued') return acquit(run);
      return run.state === 'running' && run.claimedBy !== null ? interrupt(run, event.atMs) : undefined;
    case 'cancelled':
      return cancel(run, event.cancel);
    case 'superseded':
      return supersede(run, event);
    case 'approved':
      return run.state === 'queued' && run.parked === 'approval' && !run.cancel && run.afterwards
        ? {
            parked: null,
            notBeforeMs: event.approval.atMs,
            afterwards: { ...run.afterwards, approval: event.approval },
          }
        : undefined;
    case 'retried':
      return run.state === 'failed'
        ? {
            ...{ state: 'queued', attempts: 0, notBeforeMs: event.atMs, finishedAtMs: null, stopped: null },
            ...{ dismissed: null, cancel: null, interrupted: null },
          }
        : undefined;
    case 'dismissed':
      return run.state === 'failed' ? { dismissed: true } : undefined;
  }
}

/** What a run does to those before it in its order; undefined if they go on. */
export function toSuperseded(
  { id, latest }: Pick<NewRunRow, 'id' | 'latest'>,
  atMs: number,
): Superseded | undefined {
  return latest?.latest && { kind: 'superseded', by: id, atMs, ...latest.latest };
}

/** Whether a run is running under a claim. One that waits for its receiver is claimed by nobody. */
export function isUnder(
  run: Pick<RunLife, 'state' | 'claimedBy' | 'claims'>,
  { claimedBy = undefined, claims }: Omit<RunAttempt, 'id'>,
): boolean {
  return run.state === 'running' && run.claimedBy === (claimedBy ?? null) && run.claims === claims;
}

/** How the request to cancel a run was taken, by what it changed. */
export function toCancelTaken(change: RunChange | undefined): CancelTaken {
  if (!change) return 'ended';
  return change.state === 'cancelled' ? 'cancelled' : 'requested';
}

/** The error of a run that so many attempts in a row were interrupted at. */
export function describeInterruption({ times }: Interrupted): string {
  const attempts = times === 1 ? 'the attempt' : `${times} attempts in a row`;
  return `the daemon ended, or lost its claim, during ${attempts}`;
}

function claimAttempt(
  run: RunLife,
  { for: claimedFor, by, atMs }: Extract<RunEvent, { kind: 'claimed' }>,
): RunChange | undefined {
  if (run.state !== 'queued' || run.parked || run.cancel) return undefined;
  const attempts = run.attempts + 1;
  const kept = run.history ?? [];
  return {
    ...{ state: 'running', attempts, claims: run.claims + 1, claimedBy: by, claimedFor },
    ...{ startedAtMs: atMs, finishedAtMs: null, waitsUntilMs: null },
    report: run.afterwards ? run.report : null,
    history: [
      ...kept.slice(kept.length >= attemptsKeptMax ? 1 : 0),
      { attempt: attempts, startedAtMs: atMs },
    ],
  };
}

/** Claims a run that somebody cancels and no daemon has, to end what is left of it. */
function claimToCancel(run: RunLife, by: string): RunChange | undefined {
  if (!run.cancel || hasEnded(run.state) || run.claimedBy !== null) return undefined;
  return {
    ...{ state: 'running', claims: run.claims + 1, claimedBy: by, claimedFor: 'cancel' },
    ...{ waitsUntilMs: null, parked: null },
  };
}

function end(run: RunLife, { state, atMs, error: reason }: RunResult): RunChange {
  const error = reason ?? null;
  return {
    ...{ state, finishedAtMs: atMs, error, ...unclaimed, interrupted: null },
    cancel: state === 'cancelled' ? run.cancel : null,
    history: endAttempt(run.history, atMs, error),
  };
}

function postpone(
  run: RunLife,
  { atMs, notBeforeMs, attempted, isInterrupted, error: reason, second }: RunPostponement,
): RunChange {
  const error = reason ?? null;
  const queued: RunChange = {
    ...{ state: 'queued', notBeforeMs, error, ...unclaimed },
    ...(!isInterrupted && attempted && { interrupted: null }),
  };
  const history = endAttempt(run.history, atMs, error);
  if (second) {
    const afterwards = run.afterwards ?? { sinceMs: second.sinceMs, claims: run.claims };
    return {
      ...queued,
      attempts: 0,
      afterwards,
      history,
      parked: second.waitsForApproval ? 'approval' : null,
    };
  }
  // To end what is left of a cancelled run is no attempt, and takes none back.
  if (attempted || run.cancel) return { ...queued, history };
  return { ...queued, attempts: run.attempts - 1, history: forgetAttempt(run.history) };
}

/** Queues a run whose daemon is gone; fails one that has ended two daemons that executed nothing else. */
function interrupt(run: RunLife, atMs: number): RunChange {
  if (run.claimedFor === 'cancel') return { state: 'queued', ...unclaimed };
  const { times = 0, alone = 0 } = run.interrupted ?? {};
  const interrupted = { times: times + 1, alone: alone + (run.claimedFor === 'alone' ? 1 : 0) };
  const fails = interrupted.alone >= interruptionsAloneMax && !run.cancel;
  const error = describeInterruption(interrupted) + (fails ? '; the run is what ends it' : '');
  return {
    ...{ state: fails ? 'failed' : 'queued', error, interrupted, ...unclaimed },
    ...(fails && { finishedAtMs: atMs }),
    ...(!fails && run.claimedFor === 'alone' && { notBeforeMs: atMs + waitForAcquittal(run, atMs) }),
    history: endAttempt(run.history, atMs, error),
  };
}

function waitForAcquittal({ startedAtMs }: RunLife, atMs: number): number {
  return Math.min(Math.max(2 * (atMs - (startedAtMs ?? atMs)), acquittalMsMin), acquittalMsMax);
}

/** A daemon ended while the run was not executed: it is not the cause of an earlier end either. */
function acquit({ interrupted }: RunLife): RunChange | undefined {
  return interrupted && interrupted.alone > 0 ? { interrupted: { ...interrupted, alone: 0 } } : undefined;
}

/** Nothing of a run that was never claimed can be at work: it has ended. A daemon must first end what another has started. */
function cancel(run: RunLife, asked: RunCancel): RunChange | undefined {
  if (hasEnded(run.state)) return undefined;
  if (run.claims === 0) return { state: 'cancelled', cancel: asked, finishedAtMs: asked.atMs, parked: null };
  if (run.cancel) return {};
  return { cancel: asked, parked: null, notBeforeMs: Math.min(run.notBeforeMs, run.startedAtMs ?? 0) };
}

function supersede(run: RunLife, { by, atMs, cancelRunning }: Superseded): RunChange | undefined {
  if (run.state === 'running' && !cancelRunning) return undefined;
  const reason = `${by} is newer, and only the latest run of its order starts`;
  return cancel(run, { by: 'hookmill', atMs, reason });
}

const unclaimed = { claimedBy: null, claimedFor: null, waitsUntilMs: null } as const;

type History = RunLife['history'];

/** Ends the last attempt, if that is being made. */
function endAttempt(history: History, atMs: number, error: string | null): History {
  const last = history?.at(-1);
  if (!history || !last || last.endedAtMs !== undefined) return history;
  const failed = error !== null && {
    error: [...error.slice(0, 2 * attemptErrorCharsMax)].slice(0, attemptErrorCharsMax).join(''),
  };
  return [...history.slice(0, -1), { ...last, endedAtMs: atMs, ...failed }];
}

/** Forgets the last attempt, if that is being made: the claim was none. */
function forgetAttempt(history: History): History {
  if (!history || history.at(-1)?.endedAtMs !== undefined) return history;
  return history.length === 1 ? null : history.slice(0, -1);
}
