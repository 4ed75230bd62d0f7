import type { Worker } from 'node:worker_threads';
import type { Summary } from '../../operations/plan/plan.ts';
import type { Commit } from '../../schema/commit.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import type { ReconcileFailure } from '../../store/ports/reconcile-statuses.ts';
import type { StorePlace } from '../../store/ports/store.ts';
import { type EndMessage, endDefinitionsThread, startDefinitionsThread } from '../definitions-thread.ts';

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

/** @limit Time for which the definitions of one tip may keep the reconcile thread busy, in ms: 10,000 usual automations take a few seconds. */
const reconcileBusyMs = 20_000;

interface ReconcileThreadOptions {
  readonly place: StorePlace;
  readonly environment: NodeJS.ProcessEnv;
  /** Stores why the definitions of a factory could not be applied. */
  readonly onTooLarge: (factory: string, branch: FollowedBranch, failure: ReconcileFailure) => Promise<void>;
  readonly busyMs?: number;
}

interface Running {
  readonly branch: FollowedBranch;
  isApplying: boolean;
  readonly resolve: (report: ReconcileReport) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reconciles factories in a thread, so that the definitions of no branch delay a delivery. If the definitions of one keep the
 * thread busy for too long, it is ended and started again with the next reconcile.
 */
export class ReconcileThread {
  readonly #options: ReconcileThreadOptions;
  readonly #running = new Map<string, Running>();
  #worker: Worker | undefined;
  #watchdog: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: ReconcileThreadOptions) {
    this.#options = options;
  }

  /** Reconciles a factory, one reconcile of it at a time. Ends soon after the signal. */
  async reconcile(factory: string, branch: FollowedBranch, signal: AbortSignal): Promise<ReconcileReport> {
    if (this.#closed || signal.aborted) return { result: 'stopped' };
    const worker = this.#worker ?? this.#start();
    this.#worker = worker;
    const tell = (message: ToReconciles) => worker.postMessage(message);
    const stop = () => tell({ kind: 'stop', factory });
    signal.addEventListener('abort', stop);
    try {
      return await new Promise<ReconcileReport>((resolve, reject) => {
        this.#running.set(factory, { branch, isApplying: false, resolve, reject });
        tell({ kind: 'reconcile', factory, branch, environment: { ...this.#options.environment } });
      });
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#worker) await endDefinitionsThread(this.#worker);
  }

  #start(): Worker {
    const worker = startDefinitionsThread('reconcile-worker', import.meta.url, this.#options.place);
    worker.on('message', (message: FromReconciles) => this.#take(worker, message));
    worker.once('error', () => undefined);
    worker.once('exit', () => {
      clearTimeout(this.#watchdog);
      this.#worker = undefined;
      const ended = [...this.#running];
      this.#running.clear();
      for (const [factory, running] of ended) void this.#endStopped(factory, running);
    });
    return worker;
  }

  /** Ends the thread unless it gives another sign of life in time. The first one ends its start. */
  #watch(worker: Worker): void {
    clearTimeout(this.#watchdog);
    const busyMs = this.#options.busyMs ?? reconcileBusyMs;
    this.#watchdog = setTimeout(() => void worker.terminate(), busyMs);
  }

  #take(worker: Worker, message: FromReconciles): void {
    this.#watch(worker);
    if (message.kind === 'alive') return;
    const { kind, factory } = message;
    const running = this.#running.get(factory);
    if (running && kind === 'applying') running.isApplying = true;
    if (!running || kind === 'applying') return;
    this.#running.delete(factory);
    if (kind === 'ended') running.resolve(message.report);
    else running.reject(message.error);
  }

  /** Only a factory whose definitions were being applied can have kept the thread busy. The others try again. */
  async #endStopped(factory: string, { branch, isApplying, resolve, reject }: Running): Promise<void> {
    if (this.#closed || !isApplying) return resolve({ result: 'stopped' });
    try {
      await this.#options.onTooLarge(factory, branch, tooLarge);
      resolve({ result: 'failed', ...tooLarge });
    } catch (error) {
      reject(error);
    }
  }
}

const tooLarge: ReconcileFailure = {
  reason: 'too-large',
  message: 'checking the definitions at the tip took too long, so it was stopped',
  hint: 'move some definitions to another factory, or make their filters simpler',
  diagnostics: [],
};
