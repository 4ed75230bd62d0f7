import { backOffMs } from '../../schema/retry-waits.ts';

/** @limit Longest wait after failed reconciles, in ms: a repaired remote is noticed within ten minutes. */
export const reconcileBackOffMsMax = 600_000;

/** The part of a reconcile's result that the loop needs. */
interface WithResult {
  readonly result: string;
}

export interface ReconcileLoopOptions<Reconciled extends WithResult> {
  readonly intervalMs: number;
  /** Reconciles the factory once; it ends soon after the signal. */
  readonly reconcile: (signal: AbortSignal) => Promise<Reconciled>;
  /** Called after each reconcile, and not awaited. */
  readonly onReconciled?: (reconciled: Reconciled) => void;
  /** Called if a reconcile rejects; the loop continues. */
  readonly onError: (error: unknown) => void;
  /** Returns a number from 0 up to 1. */
  readonly random: () => number;
}

export interface ReconcileLoop {
  /**
   * Reconciles at once. If a reconcile is running, it may have read the branch already, so one more follows it, however
   * often this is called.
   */
  trigger(): void;
  /** Stops the current reconcile and waits for its end. */
  stop(): Promise<void>;
}

/** Reconciles one factory now, and then at each interval. */
export function startReconcileLoop<R extends WithResult>(options: ReconcileLoopOptions<R>): ReconcileLoop {
  const stopping = new AbortController();
  const bell = new Bell();
  const ended = runLoop(options, bell, stopping.signal);
  return {
    trigger: () => bell.ring(),
    stop: async () => {
      stopping.abort();
      bell.ring();
      await ended;
    },
  };
}

/** Computes the wait in ms: about the interval, and longer after each further failure in a row. */
export function computeWaitMs(intervalMs: number, failures: number, random: () => number): number {
  // Random, so that factories and daemons that share a remote do not all ask it at once.
  if (failures === 0) return Math.round(intervalMs * (0.9 + 0.2 * random()));
  const maxMs = Math.max(intervalMs, reconcileBackOffMsMax);
  return backOffMs(failures, { firstMs: intervalMs, maxMs }, random());
}

async function runLoop<R extends WithResult>(
  options: ReconcileLoopOptions<R>,
  bell: Bell,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    bell.reset();
    failures = (await reconcileOnce(options, signal)) ? 0 : failures + 1;
    await bell.wait(computeWaitMs(options.intervalMs, failures, options.random));
  }
}

/** Returns whether the reconcile succeeded. */
async function reconcileOnce<R extends WithResult>(
  options: ReconcileLoopOptions<R>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const reconciled = await options.reconcile(signal);
    options.onReconciled?.(reconciled);
    return reconciled.result !== 'failed';
  } catch (error) {
    options.onError(error);
    return false;
  }
}

/** A wait that `ring` ends, even if it rang before the wait began. */
class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  reset(): void {
    this.#rung = false;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      if (this.#rung) return resolve();
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
