import { backOffMs } from './back-off.ts';
import type { Reconciled } from './reconcile.ts';

/** @limit Longest wait after failed reconciles, in ms: a repaired remote is noticed within ten minutes. */
export const reconcileBackOffMsMax = 600_000;

export interface ReconcileLoopOptions {
  readonly intervalMs: number;
  /** One reconcile of one factory; it ends soon after the signal. */
  readonly reconcile: (signal: AbortSignal) => Promise<Reconciled>;
  /** Called after each, and awaited by none. */
  readonly onReconciled?: (reconciled: Reconciled) => void;
  /** What a reconcile failed with that is in no result; the loop goes on. */
  readonly onError: (error: unknown) => void;
  /** From 0 up to 1. */
  readonly random: () => number;
}

export interface ReconcileLoop {
  /**
   * Reconciles at once; while a reconcile is under way, once more after it, since that may have looked already.
   * However many come meanwhile, it is one.
   */
  trigger(): void;
  /** Ends the reconcile under way and waits for its end. */
  stop(): Promise<void>;
}

/** Reconciles one factory now, and from then on at each interval. Loops of several factories share nothing. */
export function startReconcileLoop(options: ReconcileLoopOptions): ReconcileLoop {
  const stopping = new AbortController();
  const bell = new Bell();
  const ended = run(options, bell, stopping.signal);
  return {
    trigger: () => bell.ring(),
    stop: async () => {
      stopping.abort();
      bell.ring();
      await ended;
    },
  };
}

/** Wait in ms: about the interval, and longer after each further failure in a row. */
export function waitMs(intervalMs: number, failures: number, random: () => number): number {
  // Spreads factories and daemons that share a remote.
  if (failures === 0) return Math.round(intervalMs * (0.9 + 0.2 * random()));
  const maxMs = Math.max(intervalMs, reconcileBackOffMsMax);
  return backOffMs(failures, { firstMs: intervalMs, maxMs }, random());
}

async function run(options: ReconcileLoopOptions, bell: Bell, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    bell.reset();
    failures = (await isGood(options, signal)) ? 0 : failures + 1;
    await bell.wait(waitMs(options.intervalMs, failures, options.random));
  }
}

async function isGood(options: ReconcileLoopOptions, signal: AbortSignal): Promise<boolean> {
  try {
    const reconciled = await options.reconcile(signal);
    options.onReconciled?.(reconciled);
    return reconciled.result !== 'failed';
  } catch (error) {
    options.onError(error);
    return false;
  }
}

/** A wait that can be cut short, also by a ring that came before it. */
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
