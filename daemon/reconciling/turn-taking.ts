import type { Replicas } from '../../store/replicas.ts';
import { doInTurn } from '../do-in-turn.ts';
import type { ReconcileReport } from './reconcile-report.ts';

/** @limit Wait for a reconcile by another daemon after a push, in ms: it may have read the branch before the push. */
const turnWaitMs = 1_000;

export interface TurnTaking {
  readonly replicas: Replicas;
  readonly factory: string;
  readonly intervalMs: number;
  readonly reconcile: (signal: AbortSignal) => Promise<ReconcileReport>;
  /** Reconciles again soon. */
  readonly onRetry: () => void;
}

/** Lets the daemons of a store take turns at following a branch, so that the remote is asked as often as by one. */
export function takeTurnsAt({ replicas, factory, intervalMs, reconcile, onRetry }: TurnTaking) {
  // Each daemon reconciles when it starts, because its settings may have changed.
  let isWanted = true;
  return {
    /** Makes the next reconcile happen here, even if another daemon has just reconciled. */
    want: () => {
      isWanted = true;
    },
    reconcile: async (signal: AbortSignal): Promise<ReconcileReport> => {
      const everyMs = isWanted ? 0 : intervalMs;
      const done = await doInTurn(replicas, `reconcile ${factory}`, everyMs, lost => {
        isWanted = false;
        return reconcile(AbortSignal.any([signal, lost]));
      });
      if (done) return done.result;
      if (isWanted) setTimeout(onRetry, turnWaitMs).unref();
      return { result: 'elsewhere' };
    },
  };
}
