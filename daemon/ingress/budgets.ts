import type { Replicas, SharedWindow } from '../../store/ports/replicas.ts';
import { WindowCounter } from '../http/window-counter.ts';

/** @limit Processor time that explanations of failures may take in each second, in ms: an attack must not cost more than 1 % of it. */
const explainingMsPerSecond = 10;

/** @limit Processor time that explanations may take at once after a quiet while, in ms: someone who sets up a webhook gets each one. */
const explainingBurstMs = 100;

/** Limits that an operator can set; `settings.ts` has their defaults. */
export interface BudgetLimits {
  /** Authenticated deliveries per minute and webhook. */
  readonly deliveriesPerMinute: number;
  /** Failed attempts per minute, webhook and client address. */
  readonly failedAuthPerMinute: number;
  /** Logged rows of unverified requests per minute and webhook, over all addresses. */
  readonly failedAuthPerMinuteTotal: number;
}

/** A budget that is used up. */
interface Spent {
  /** Whole seconds until the next attempt is allowed. */
  readonly retryAfterSeconds: number;
}

type CountedDelivery = Spent | 'uncounted' | undefined;

/** Failed attempts are counted at once: between a check and its count no other request can slip in. */
export interface Budgets {
  /** Returns Spent if this address failed so often that its next attempt must not be verified. */
  checkGuessing(uid: string, clientAddress: string): Spent | undefined;
  /** Counts a failed attempt. */
  countFailure(uid: string, clientAddress: string): void;
  /**
   * Decides whether the row of an unverified request is logged. Of those beyond the total of a minute, only the 2nd,
   * 4th, 8th … multiple of the total is. Returns how many rows were left out before this one, or `leftOut` if it is too.
   */
  sampleRow(uid: string): number | 'leftOut';
  /** Does work that explains a failure; undefined while explanations have taken more than their share of the time. */
  explain(work: () => string): string | undefined;
  /**
   * Counts an authenticated delivery. Returns Spent if it is over the rate limit, by default the one of all webhooks;
   * `uncounted` if the store is out of reach.
   */
  countDelivery(uid: string, perMinute?: number): CountedDelivery | Promise<CountedDelivery>;
}

/**
 * Creates budgets in this process's memory. Failed attempts never count as deliveries. `isTotalReached` tells whether
 * other daemons have logged so many rows that only the samples of this one may follow.
 */
export function createMemoryBudgets(
  limits: BudgetLimits,
  monotonicMs: () => number,
  isTotalReached: (uid: string) => boolean = () => false,
): Budgets {
  const deliveries = new WindowCounter(monotonicMs);
  const failures = new WindowCounter(monotonicMs);
  const rows = new WindowCounter(monotonicMs);
  const rowsLeftOut = new Map<string, number>();
  return {
    checkGuessing: (uid, clientAddress) => {
      if (failures.isEmpty) return undefined;
      const window = failures.find(`${uid} ${clientAddress}`);
      if (!window || window.count < limits.failedAuthPerMinute) return undefined;
      return { retryAfterSeconds: failures.secondsLeft(window) };
    },
    countFailure: (uid, clientAddress) => {
      failures.count(`${uid} ${clientAddress}`);
    },
    sampleRow: uid => {
      const multiple = rows.count(uid).count / limits.failedAuthPerMinuteTotal;
      const leftOut = rowsLeftOut.get(uid) ?? 0;
      const isLogged = multiple > 1 ? Number.isInteger(Math.log2(multiple)) : !isTotalReached(uid);
      if (!isLogged) {
        rowsLeftOut.set(uid, leftOut + 1);
        return 'leftOut';
      }
      rowsLeftOut.delete(uid);
      return leftOut;
    },
    explain: createTimeShare(monotonicMs),
    countDelivery: (uid, perMinute = limits.deliveriesPerMinute) => {
      const window = deliveries.count(uid);
      if (window.count <= perMinute) return undefined;
      return { retryAfterSeconds: deliveries.secondsLeft(window) };
    },
  };
}

/**
 * Makes a function that does work which explains a failure. It returns undefined instead while explanations have taken
 * more than their share of the time: processor time, which a busy machine does not lengthen.
 */
export function createTimeShare(
  monotonicMs: () => number,
  processorMs: () => number = readProcessorMs,
): (work: () => string) => string | undefined {
  let leftMs = explainingBurstMs;
  let countedMs = monotonicMs();
  return work => {
    const nowMs = monotonicMs();
    leftMs = Math.min(explainingBurstMs, leftMs + ((nowMs - countedMs) / 1_000) * explainingMsPerSecond);
    countedMs = nowMs;
    if (leftMs <= 0) return undefined;
    const startMs = processorMs();
    const explanation = work();
    leftMs -= processorMs() - startMs;
    return explanation;
  };
}

/** The processor time that this thread has used, in ms. */
function readProcessorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

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
    countDelivery: async (uid, perMinute = deliveriesPerMinute) => {
      // Once the window is known to be full, nobody has to be asked.
      if (deliveries.count(uid) < perMinute) {
        const counting = replicas.countEvent(`deliveries ${uid}`, perMinute);
        const window = await counting.catch(() => 'uncounted' as const);
        if (window === 'uncounted') return window;
        deliveries.learn(uid, window);
        if (window.count <= perMinute) return undefined;
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
