import type {
  AcceptedDelivery,
  AwaitedReport,
  ClaimedRuns,
  DueTimesCorrection,
  NewRun,
  Pruned,
  PruneRule,
  Replay,
  ReportedRun,
  ReportKept,
  RunClaim,
  RunDelivery,
  RunFlow,
  RunPostponement,
  RunResult,
  StoredEvent,
  UnidentifiedDelivery,
  UnloggedCount,
} from '../delivery-log.ts';
import type { DeliveryLogErrorCode } from '../delivery-log-error.ts';
import type { HealthRecord, TallyStep } from '../tallies.ts';

/**
 * The work of one transaction; without any, the transaction only tests whether the log can be written. All payloads are
 * in one transferred buffer, so no byte is copied between threads.
 */
export interface Batch {
  readonly kind: 'batch';
  readonly id: number;
  readonly deliveries: readonly DeliveryRow[];
  readonly payloads: ArrayBuffer;
  readonly commands: readonly Command[];
}

export type DeliveryRow = AcceptedRow | UnidentifiedRow;

export interface AcceptedRow extends Omit<AcceptedDelivery, 'payload' | 'headers' | 'appliedState' | 'runs'> {
  readonly outcome: 'Accepted';
  /** As JSON, which is cheaper to send than an object. */
  readonly headers: string;
  /** Length of its payload, which follows the payloads of the rows before it. */
  readonly payloadBytes: number;
  readonly appliedState?: SentAppliedState;
  readonly runs: readonly NewRunRow[];
}

export interface NewRunRow extends Omit<NewRun, 'flow'> {
  /** Its `RunFlow` as JSON. */
  readonly flow?: string;
  readonly burst?: RunFlow['burst'];
}

export interface UnidentifiedRow extends Omit<UnidentifiedDelivery, 'appliedState'> {
  readonly appliedState?: SentAppliedState;
}

/** The text is sent only if it differs from the one last sent for the factory. */
export interface SentAppliedState {
  readonly digest: string;
  readonly json?: string;
}

export type ToWorker = Batch | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'opened' | 'claimsLost' }
  | Failed<'refused'>
  | Committed
  | FailedBatch;

/** The log could not be opened, or a batch not be committed. An error loses its class between threads. */
export interface Failed<Kind = string> {
  readonly kind: Kind;
  readonly code: DeliveryLogErrorCode;
  readonly message: string;
  readonly error: unknown;
}

export interface FailedBatch extends Failed<'failed'> {
  readonly id: number;
}

export interface Committed {
  readonly kind: 'committed';
  /** The batch. */
  readonly id: number;
  /** The deliveries of the batch that were duplicates, each with its original. */
  readonly duplicates: readonly Duplicate[];
  /** One for each command. */
  readonly results: readonly unknown[];
  /** Whether queued runs may be due now. */
  readonly runsQueued: boolean;
  readonly commitMs: number;
}

export interface Duplicate {
  readonly index: number;
  readonly of: string;
}

/** The commands that the worker runs in the batch's transaction. */
export interface Verbs {
  readEvent: { takes: string; gives: StoredEvent | undefined };
  readSnapshot: { takes: string; gives: string | undefined };
  listRunDeliveries: { takes: string; gives: RunDelivery[] };
  claimRuns: { takes: RunClaim; gives: ClaimedRuns };
  finishRun: { takes: RunResult; gives: boolean };
  awaitReport: { takes: AwaitedReport; gives: boolean };
  recordReport: { takes: ReportedRun; gives: ReportKept };
  postponeRun: { takes: RunPostponement; gives: boolean };
  requeueRunsOfOthers: { takes: string; gives: number };
  correctDueTimes: { takes: DueTimesCorrection; gives: number };
  retryRun: { takes: { readonly id: string; readonly nowMs: number }; gives: boolean };
  dismissRun: { takes: string; gives: boolean };
  forgetFailures: { takes: readonly number[]; gives: number };
  replay: { takes: Replay; gives: boolean };
  recordUnlogged: { takes: readonly UnloggedCount[]; gives: number };
  recordTallies: { takes: TallyStep; gives: boolean };
  recordHealth: { takes: HealthRecord; gives: boolean };
  pruneStep: { takes: PruneStep; gives: PrunedStep };
}

export type Verb = keyof Verbs;

/** The verbs of the queue of runs. */
export type RunVerb = Exclude<
  Verb,
  | 'readEvent'
  | 'readSnapshot'
  | 'listRunDeliveries'
  | 'recordUnlogged'
  | 'recordTallies'
  | 'recordHealth'
  | 'pruneStep'
>;

/** After these verbs, queued runs may be due now. */
export const queuingVerbs: ReadonlySet<Verb> = new Set([
  'replay',
  'retryRun',
  'dismissRun',
  'requeueRunsOfOthers',
  'correctDueTimes',
]);

export type Command<V extends Verb = Verb> = {
  [K in V]: { readonly verb: K; readonly argument: Verbs[K]['takes'] };
}[V];

export type VerbTable = { readonly [V in Verb]: (argument: Verbs[V]['takes']) => Verbs[V]['gives'] };

export interface PruneStep extends PruneRule {
  readonly after?: PrunePosition;
}

/** The progress of a pass of pruning. Only the adapter that returned it can read it. */
export type PrunePosition = object;

export interface PrunedStep extends Pruned {
  /** The place at which the next step continues; absent when the pass is done. */
  readonly next?: PrunePosition;
}
