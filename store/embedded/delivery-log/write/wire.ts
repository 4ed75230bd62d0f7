import type {
  AcceptedDelivery,
  ClaimedRuns,
  Pruned,
  Replay,
  Retention,
  RunClaim,
  RunPostponement,
  RunResult,
  UnidentifiedDelivery,
} from '../../../delivery-log.ts';
import type { DeliveryLogErrorCode } from '../../../delivery-log-error.ts';

/** One transaction's work. Payloads lie end to end in one transferred buffer, so that no byte is copied between threads. */
export interface Batch {
  readonly kind: 'batch';
  readonly deliveries: readonly DeliveryRow[];
  readonly payloads: ArrayBuffer;
  readonly commands: readonly Command[];
}

export type DeliveryRow = AcceptedRow | UnidentifiedRow;

export interface AcceptedRow extends Omit<AcceptedDelivery, 'payload' | 'appliedState'> {
  readonly outcome: 'Accepted';
  /** Bytes of its payload; those of the rows before it come first. */
  readonly payloadBytes: number;
  readonly appliedState?: SentAppliedState;
}

export interface UnidentifiedRow extends Omit<UnidentifiedDelivery, 'appliedState'> {
  readonly appliedState?: SentAppliedState;
}

/** The text goes along only when it differs from the one last sent for this factory. */
export interface SentAppliedState {
  readonly digest: string;
  readonly json?: string;
}

export type ToWorker = Batch | { readonly kind: 'close' };

export type FromWorker =
  | { readonly kind: 'opened' }
  | Refused
  | Committed
  | { readonly kind: 'failed'; readonly error: unknown };

/** The file could not be opened. */
export interface Refused {
  readonly kind: 'refused';
  readonly code?: DeliveryLogErrorCode;
  readonly message: string;
  readonly error: unknown;
}

export interface Committed {
  readonly kind: 'committed';
  /** Which deliveries of the batch were duplicates, and of what. */
  readonly duplicates: readonly Duplicate[];
  /** One for each command. */
  readonly results: readonly unknown[];
  /** Queued runs may be due at once. */
  readonly runsQueued: boolean;
  readonly commitMs: number;
}

export interface Duplicate {
  readonly index: number;
  readonly of: string;
}

/** What the worker does on request, inside the batch's transaction. */
export interface Verbs {
  readPayload: { takes: string; gives: Uint8Array | undefined };
  readSnapshot: { takes: string; gives: string | undefined };
  claimRuns: { takes: RunClaim; gives: ClaimedRuns };
  finishRun: { takes: RunResult; gives: boolean };
  postponeRun: { takes: RunPostponement; gives: boolean };
  requeueRunsOfOthers: { takes: string; gives: number };
  retryRun: { takes: { readonly id: string; readonly nowMs: number }; gives: boolean };
  replay: { takes: Replay; gives: boolean };
  pruneStep: { takes: PruneStep; gives: PrunedStep };
}

export type Verb = keyof Verbs;

export type Command<V extends Verb = Verb> = {
  [K in V]: { readonly verb: K; readonly argument: Verbs[K]['takes'] };
}[V];

export type VerbTable = { readonly [V in Verb]: (argument: Verbs[V]['takes']) => Verbs[V]['gives'] };

export interface PruneStep extends Retention {
  readonly after?: PrunePosition;
}

/** How far a pass of pruning has come. */
export interface PrunePosition {
  readonly uid: string;
  readonly atMs: number;
  readonly seq: number;
}

export interface PrunedStep extends Pruned {
  /** Where the next step goes on; absent when the pass is done. */
  readonly next?: PrunePosition;
}
