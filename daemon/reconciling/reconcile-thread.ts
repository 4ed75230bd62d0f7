import type { Worker } from 'node:worker_threads';
import type { Summary } from '../../operations/plan/plan.ts';
import type { Commit } from '../../schema/commit.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { type CalledThread, callThread, ThreadEnded } from '../../store/call-thread.ts';
import type { ReconcileFailure } from '../../store/ports/reconcile-statuses.ts';
import type { StorePlace } from '../../store/ports/store.ts';
import { endDefinitionsMs, startDefinitionsThread } from '../definitions-thread.ts';

/** How a reconcile ended, without the definitions: plain data, small enough to be copied between threads. */
export type ReconcileReport =
  | { readonly result: 'applied'; readonly tip: Commit; readonly serial: number; readonly summary: Summary }
  | (ReconcileFailure & { readonly result: 'failed' })
  | { readonly result: 'unchanged' | 'suspended' | 'stopped' }
  /** Another daemon does it, or has just done it. */
  | { readonly result: 'elsewhere' };

/** The functions of the reconcile thread. */
export interface ReconcileVerbs {
  reconcile(
    factory: string,
    branch: FollowedBranch,
    environment: NodeJS.ProcessEnv,
  ): Promise<ReconcileReport>;
  stop(factory: string): void;
}

/** The functions of the main thread that the reconcile thread calls. */
export interface WatchVerbs {
  /** Called every second, unless the thread is busy. */
  alive(): void;
  /** The definitions of the factory are now parsed and applied. */
  applying(factory: string): void;
}

/** @limit Time for which the definitions of one tip may keep the reconcile thread busy, in ms: 10,000 usual automations take a few seconds. */
const reconcileBusyMs = 20_000;

interface ReconcileThreadOptions {
  readonly place: StorePlace;
  readonly environment: NodeJS.ProcessEnv;
  /** Stores why the definitions of a factory could not be applied. */
  readonly onTooLarge: (factory: string, branch: FollowedBranch, failure: ReconcileFailure) => Promise<void>;
  readonly busyMs?: number;
}

/**
 * Reconciles factories in a thread, so that the definitions of no branch delay a delivery. If the definitions of one keep the
 * thread busy for too long, it is ended and started again with the next reconcile.
 */
export class ReconcileThread {
  readonly #options: ReconcileThreadOptions;
  readonly #thread: CalledThread<ReconcileVerbs>;
  /** The factories whose definitions are parsed and applied. */
  readonly #applying = new Set<string>();
  #watchdog: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ReconcileThreadOptions) {
    this.#options = options;
    this.#thread = callThread<ReconcileVerbs>(() => this.#start(), {
      alive: () => this.#watch(),
      applying: factory => {
        this.#watch();
        this.#applying.add(factory);
      },
    } satisfies WatchVerbs);
  }

  /** Reconciles a factory, one reconcile of it at a time. Ends soon after the signal. */
  async reconcile(factory: string, branch: FollowedBranch, signal: AbortSignal): Promise<ReconcileReport> {
    if (this.#closed || signal.aborted) return { result: 'stopped' };
    const stop = () => void this.#thread.call('stop', [factory]).catch(() => undefined);
    signal.addEventListener('abort', stop);
    const reconciled = this.#thread
      .call('reconcile', [factory, branch, { ...this.#options.environment }])
      .finally(() => signal.removeEventListener('abort', stop));
    try {
      return await reconciled;
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      // Only a factory whose definitions were being applied can have kept the thread busy. The others try again.
      if (this.#closed || !this.#applying.has(factory)) return { result: 'stopped' };
      await this.#options.onTooLarge(factory, branch, tooLarge);
      return { result: 'failed', ...tooLarge };
    } finally {
      this.#applying.delete(factory);
    }
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.#thread.end(endDefinitionsMs);
  }

  #start(): Worker {
    const worker = startDefinitionsThread('reconcile-worker', import.meta.url, this.#options.place);
    worker.once('exit', () => clearTimeout(this.#watchdog));
    return worker;
  }

  /** Ends the thread unless it gives another sign of life in time. The first one ends its start. */
  #watch(): void {
    clearTimeout(this.#watchdog);
    const busyMs = this.#options.busyMs ?? reconcileBusyMs;
    this.#watchdog = setTimeout(() => this.#thread.terminate(), busyMs);
  }
}

const tooLarge: ReconcileFailure = {
  reason: 'too-large',
  message: 'checking the definitions at the tip took too long, so it was stopped',
  hint: 'move some definitions to another factory, or make their filters simpler',
  diagnostics: [],
};
