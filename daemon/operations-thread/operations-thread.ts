import type { Worker } from 'node:worker_threads';
import { ApiProblem } from '../../schema/api/problems.ts';
import type { StorePlace } from '../../store/ports/store.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import { endDefinitionsThread, startDefinitionsThread } from '../definitions-thread.ts';
import type { FromThread, ThreadLog, ThreadVerb, ToThread } from './wire.ts';

/** @limit Time limit for one operation in the operations thread, in ms: 10,000 usual automations take a few seconds, and commands wait for 30 s. */
const operationMs = 20_000;
/** @limit Most requests of one API token that wait for the operations thread: a page of the dashboard sends a few at once. */
const requestsWaitingMax = 16;

export interface OperationsThreadOptions {
  readonly place: StorePlace;
  readonly deliveryLog: ThreadLog;
  /** Replaces the time limit. */
  readonly operationMs?: number;
}

/** Runs operations outside the thread of the ingress, so that none of them delays a delivery. */
export interface OperationsThread {
  /**
   * Runs one operation. Operations of one `turn` run in order, and turns take turns; without one, it is the daemon's own work
   * and runs next. While one waits for other processes, operations of other turns run. The buffers in `transfer` are handed over, not copied. Fails with the problem `takes-too-long` if it was stopped, and with `requests-waiting`.
   */
  run(
    verb: ThreadVerb,
    argument: unknown,
    turn?: string,
    transfer?: readonly ArrayBuffer[],
  ): Promise<unknown>;
  /** Stops the current operation. The others fail. */
  close(): Promise<void>;
}

/**
 * Opens the operations thread. It starts with the first operation, and again with the next one after an operation was
 * stopped. Stopping one in the middle leaves nothing half done: a state is written by one atomic rename, and SQLite
 * frees the locks of a thread that ends.
 */
export function openOperationsThread(options: OperationsThreadOptions): OperationsThread {
  return new SerialThread(options);
}

/** The turn of the daemon's own work. */
const ownTurn = '';

interface Job {
  readonly turn: string;
  readonly verb: ThreadVerb;
  readonly argument: unknown;
  readonly transfer: readonly ArrayBuffer[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

class SerialThread implements OperationsThread {
  readonly #options: OperationsThreadOptions;
  readonly #turns = new Map<string, Job[]>();
  /** The jobs that the thread has, by their numbers: one that runs, and those that wait for other processes. */
  readonly #begun = new Map<number, Job>();
  #jobs = 0;
  #running: number | undefined;
  /** Jobs that have waited for other processes, and may go on. */
  readonly #ready: number[] = [];
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: OperationsThreadOptions) {
    this.#options = options;
  }

  run(
    verb: ThreadVerb,
    argument: unknown,
    turn = ownTurn,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new ApiProblem('takes-too-long'));
      const waiting = this.#turns.get(turn) ?? [];
      if (turn !== ownTurn && waiting.length >= requestsWaitingMax) {
        return reject(new ApiProblem('requests-waiting'));
      }
      waiting.push({ turn, verb, argument, transfer, resolve, reject });
      this.#turns.set(turn, waiting);
      this.#runNext();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of [...this.#turns.values()].flat()) reject(new ApiProblem('takes-too-long'));
    this.#turns.clear();
    if (this.#worker) await endDefinitionsThread(this.#worker);
  }

  #runNext(): void {
    if (this.#running !== undefined) return;
    const ready = this.#ready.shift();
    const next = ready === undefined ? this.#takeNext() : undefined;
    if (ready !== undefined) this.#give(ready, { kind: 'goes-on', job: ready });
    else if (next) this.#begin(next);
  }

  #begin(job: Job): void {
    const { verb, argument, transfer } = job;
    const number = ++this.#jobs;
    this.#begun.set(number, job);
    this.#give(number, { kind: 'run', job: number, verb, argument }, transfer);
  }

  #give(job: number, message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    const worker = this.#worker ?? this.#start();
    this.#worker = worker;
    this.#running = job;
    this.#timer = setTimeout(() => void worker.terminate(), this.#options.operationMs ?? operationMs);
    worker.postMessage(message, transfer);
  }

  #takeNext(): Job | undefined {
    const begun = new Set([...this.#begun.values()].map(({ turn }) => turn));
    const next = [...this.#turns.keys()].find(turn => !begun.has(turn));
    const turn = this.#turns.has(ownTurn) ? ownTurn : next;
    if (turn === undefined) return undefined;
    const jobs = this.#turns.get(turn) ?? [];
    const job = jobs.shift();
    // The turn goes to the end of the line.
    this.#turns.delete(turn);
    if (jobs.length > 0) this.#turns.set(turn, jobs);
    return job;
  }

  #start(): Worker {
    const worker = startDefinitionsThread('operations-worker', import.meta.url, this.#options.place);
    let died: unknown;
    worker.on('message', (message: FromThread) => this.#take(worker, message));
    worker.once('error', error => {
      died = error;
    });
    worker.once('exit', () => {
      this.#worker = undefined;
      this.#ready.length = 0;
      for (const job of this.#begun.keys())
        this.#end(job)?.reject(new ApiProblem('takes-too-long', {}, { cause: died }));
      if (!this.#closed) this.#runNext();
    });
    return worker;
  }

  #take(worker: Worker, message: FromThread): void {
    if (message.kind === 'write') {
      const { write } = message;
      const tell = (told: ToThread) => worker.postMessage(told);
      const written: Promise<unknown> = this.#options.deliveryLog[message.verb](message.argument);
      written.then(
        result => tell({ kind: 'written', write, result }),
        (error: Error) => tell({ kind: 'not-written', write, ...describeFailure(error) }),
      );
      return;
    }
    if (message.kind === 'done') this.#end(message.job)?.resolve(message.result);
    else if (message.kind === 'failed') this.#end(message.job)?.reject(message.error);
    else if (message.kind === 'waits') this.#pause();
    else this.#ready.push(message.job);
    this.#runNext();
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#running = undefined;
  }

  #end(number: number): Job | undefined {
    if (this.#running === number) this.#pause();
    const job = this.#begun.get(number);
    this.#begun.delete(number);
    return job;
  }
}

/** What another thread can be told of an error, which loses its class on the way. */
function describeFailure(error: Error) {
  return {
    code: error instanceof DeliveryLogError ? error.code : ('failed' as const),
    message: error.message,
  };
}
