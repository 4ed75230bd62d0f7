import type { Replicas, SharedWindow } from '../../store/ports/replicas.ts';
import { type BudgetLimits, type Budgets, createMemoryBudgets } from './budgets.ts';

/**
 * Creates budgets that several daemons share: the limit of deliveries holds over all of them, and so does, nearly, that
 * of logged rows of unverified requests. Failed attempts are counted by address, in the memory of each daemon.
 */
export function createSharedBudgets(
  limits: BudgetLimits,
  monotonicMs: () => number,
  replicas: Pick<Replicas, 'countEvent'>,
): Budgets {
  const deliveries = new KnownWindows(monotonicMs);
  const rows = new KnownWindows(monotonicMs);
  const isTotalReached = (uid: string) => rows.count(uid) >= failedAuthPerMinuteTotal;
  const own = createMemoryBudgets(limits, monotonicMs, isTotalReached);
  const { deliveriesPerMinute, failedAuthPerMinuteTotal } = limits;
  return {
    ...own,
    countDelivery: async uid => {
      // Once the window is known to be full, nobody has to be asked.
      if (deliveries.count(uid) < deliveriesPerMinute) {
        const counting = replicas.countEvent(`deliveries ${uid}`, deliveriesPerMinute);
        const window = await counting.catch(() => 'uncounted' as const);
        if (window === 'uncounted') return window;
        deliveries.learn(uid, window);
        if (window.count <= deliveriesPerMinute) return undefined;
      }
      return { retryAfterSeconds: deliveries.secondsLeft(uid) };
    },
    sampleRow: uid => {
      const leftOut = own.sampleRow(uid);
      if (leftOut === 'leftOut') return leftOut;
      // The answer to a stranger does not wait for this. If it fails, this daemon counts for itself.
      replicas.countEvent(`rows ${uid}`, failedAuthPerMinuteTotal).then(
        window => rows.learn(uid, window),
        () => undefined,
      );
      return leftOut;
    },
  };
}

/** The newest counts that the store has told, until their windows end. */
class KnownWindows {
  readonly #windows = new Map<string, { readonly count: number; readonly endsAtMs: number }>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  count(key: string): number {
    return this.#find(key)?.count ?? 0;
  }

  learn(key: string, { count, msLeft }: SharedWindow): void {
    if (count >= this.count(key)) this.#windows.set(key, { count, endsAtMs: this.#monotonicMs() + msLeft });
  }

  /** Whole seconds until the window ends, at least 1. */
  secondsLeft(key: string): number {
    const endsAtMs = this.#find(key)?.endsAtMs ?? 0;
    return Math.max(1, Math.ceil((endsAtMs - this.#monotonicMs()) / 1_000));
  }

  #find(key: string) {
    const window = this.#windows.get(key);
    return window && this.#monotonicMs() < window.endsAtMs ? window : undefined;
  }
}
