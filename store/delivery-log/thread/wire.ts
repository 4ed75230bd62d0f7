import type {
  AcceptedDelivery,
  DeliveryLog,
  NewRun,
  Pruned,
  PruneRule,
  RunFlow,
  UnidentifiedDelivery,
} from '../../ports/delivery-log.ts';
import type { DeliveryLogErrorCode } from '../../ports/store-error.ts';

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

export interface AcceptedRow
  extends Omit<AcceptedDelivery, 'payload' | 'form' | 'headers' | 'appliedState' | 'runs'> {
  readonly outcome: 'Accepted';
  /** As JSON, which is cheaper to send than an object. */
  readonly headers: string;
  /** Its `FormFormat` as JSON. */
  readonly form?: string;
  /** Length of its payload, which follows the payloads of the rows before it. */
  readonly payloadBytes: number;
  readonly appliedState?: SentAppliedState;
  readonly runs: readonly NewRunRow[];
}

export interface NewRunRow extends Omit<NewRun, 'flow'> {
  /** Its `RunFlow` as JSON. */
  readonly flow?: string;
  readonly burst?: RunFlow['burst'];
  /** Its order, if it cancels those before it. */
  readonly latest?: RunFlow['order'];
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

/** What the log does by a command to its thread: everything but what the queue of commits does itself. */
type Commands = Omit<
  DeliveryLog,
  'recordAccepted' | 'recordUnidentified' | 'prune' | 'stats' | 'describeTrouble' | 'close'
> & { pruneStep(step: PruneStep): Promise<PrunedStep> };

export type Verb = keyof Commands;
export type Argument<V extends Verb> = Parameters<Commands[V]>[0];
export type Result<V extends Verb> = Awaited<ReturnType<Commands[V]>>;

export type Command<V extends Verb = Verb> = {
  [K in V]: { readonly verb: K; readonly argument: Argument<K> };
}[V];

/** The commands as an adapter executes them: at once, or with a promise. */
export type VerbTable = { readonly [V in Verb]: (argument: Argument<V>) => Result<V> };
export type AsyncVerbTable = { readonly [V in Verb]: (argument: Argument<V>) => Promise<Result<V>> };

interface CommandManner {
  /** Whether it has a transaction of its own: no delivery fails with it, or waits for more than one such command. */
  readonly isSeparate?: true;
  /** Whether queued runs may be due after it. */
  readonly queuesRuns?: true;
}

/** Every command. The thread executes those that are not separate with the next deliveries, if its adapter can. */
export const commandManners: Readonly<Record<Verb, CommandManner>> = {
  recordUnlogged: {},
  recordTallies: { isSeparate: true },
  recordHealth: { isSeparate: true },
  readEvent: {},
  readSnapshot: {},
  listRunDeliveries: {},
  claimRuns: {},
  finishRun: {},
  awaitReport: {},
  recordReport: {},
  postponeRun: {},
  requeueRunsOfOthers: { queuesRuns: true },
  correctDueTimes: { queuesRuns: true },
  retryRun: { queuesRuns: true },
  dismissRun: { queuesRuns: true },
  cancelRun: { queuesRuns: true },
  approveRun: { queuesRuns: true },
  pauseAutomation: {},
  resumeAutomation: { queuesRuns: true },
  forgetFailures: { isSeparate: true },
  forgetEnds: { isSeparate: true },
  replay: { queuesRuns: true },
  pruneStep: { isSeparate: true },
};

export interface PruneStep extends PruneRule {
  readonly after?: PrunePosition;
}

/** The progress of a pass of pruning. Only the adapter that returned it can read it. */
export type PrunePosition = object;

export interface PrunedStep extends Pruned {
  /** The place at which the next step continues; absent when the pass is done. */
  readonly next?: PrunePosition;
}
