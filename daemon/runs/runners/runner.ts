import type { Run } from '../../../store/delivery-log.ts';

/** One attempt at a run, prepared for its runner. */
export interface Attempt {
  readonly run: Run;
  /** Absolute; holds `prompt.md` and `event-payload.json`, both on disk. */
  readonly directory: string;
  /** The prompt and the envelope. It contains nothing that a sender wrote. */
  readonly message: string;
  readonly payload: Uint8Array;
}

/** How an attempt ended. A reason is for operators and never quotes the payload. */
export type AttemptResult =
  /** A reason reports a side effect that failed, such as keeping the output. */
  | { readonly kind: 'succeeded'; readonly reason?: string }
  /** Another attempt would end in the same way. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Another attempt may succeed, after at least `afterMs`; or the signal cut this one short. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number };

/**
 * Carries out an attempt, chosen and configured by the operator. When it resolves, everything it started has ended.
 * Once `signal` aborts it ends within a few seconds, with `retry` if the work may be unfinished.
 */
export type Runner = (attempt: Attempt, signal: AbortSignal) => Promise<AttemptResult>;
