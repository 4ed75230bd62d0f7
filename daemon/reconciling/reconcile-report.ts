import type { Summary } from '../../operations/plan/plan.ts';
import type { Commit } from '../../schema/commit.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import type { ReconcileFailure } from '../../store/ports/reconcile-statuses.ts';
import type { EndMessage } from '../definitions-thread.ts';

/** How a reconcile ended, without the definitions: plain data, small enough to be copied between threads. */
export type ReconcileReport =
  | { readonly result: 'applied'; readonly tip: Commit; readonly serial: number; readonly summary: Summary }
  | (ReconcileFailure & { readonly result: 'failed' })
  | { readonly result: 'unchanged' | 'suspended' | 'stopped' }
  /** Another daemon does it, or has just done it. */
  | { readonly result: 'elsewhere' };

/** Messages to the reconcile thread. */
export type ToReconciles =
  | {
      readonly kind: 'reconcile';
      readonly factory: string;
      readonly branch: FollowedBranch;
      readonly environment: NodeJS.ProcessEnv;
    }
  | { readonly kind: 'stop'; readonly factory: string }
  | EndMessage;

export type FromReconciles =
  /** Sent every second, unless the thread is busy. */
  | { readonly kind: 'alive' }
  /** The definitions of the factory are now parsed and applied. */
  | { readonly kind: 'applying'; readonly factory: string }
  | { readonly kind: 'ended'; readonly factory: string; readonly report: ReconcileReport }
  | { readonly kind: 'failed'; readonly factory: string; readonly error: unknown };
