import type { Replicas } from '../../store/replicas.ts';
import type { ReconcileReport } from './reconcile-report.ts';

/** @limit Part of the interval for which a reconcile by another daemon counts: their intervals vary by a tenth. */
const turnFraction = 0.8;
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
    /** Makes the next reconcile happen here, however recent that of another daemon is. */
    want: () => {
      isWanted = true;
    },
    reconcile: async (signal: AbortSignal): Promise<ReconcileReport> => {
      const everyMs = isWanted ? 0 : intervalMs * turnFraction;
      const turn = await replicas.takeTurn(`reconcile ${factory}`, everyMs);
      if (!turn) {
        if (isWanted) setTimeout(onRetry, turnWaitMs).unref();
        return { result: 'elsewhere' };
      }
      isWanted = false;
      try {
        return await reconcile(AbortSignal.any([signal, turn.lost]));
      } finally {
        await turn.end();
      }
    },
  };
}
