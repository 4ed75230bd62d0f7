import type { Run } from '../../../store/delivery-log.ts';

/** One attempt at a run, made ready for its runner. */
export interface Attempt {
  readonly run: Run;
  /** Absolute; holds `prompt.md` and `event-payload.json`, both on disk. */
  readonly directory: string;
  /** The prompt and the envelope. No byte of it is a sender's. */
  readonly message: string;
  readonly payload: Uint8Array;
}

/** What became of an attempt. A reason is for operators and never quotes the payload. */
export type AttemptResult =
  /** With a reason where something beside the work itself went wrong. */
  | { readonly kind: 'succeeded'; readonly reason?: string }
  /** Another attempt would end in the same way. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Another attempt may succeed, after `afterMs` at the soonest; or this one was cut short by the signal. */
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number };

/**
 * Carries out an attempt, chosen and configured by the operator. Nothing that it started is left when it resolves.
 * Once `signal` aborts it ends within a few seconds, with `retry` if the work may be unfinished.
 */
export type Runner = (attempt: Attempt, signal: AbortSignal) => Promise<AttemptResult>;
