import { makeRunVerbs } from '../../operations/factory.ts';
import { ApiProblem } from '../../schema/api/problems.ts';
import { type CalledThread, callThread, ThreadEnded } from '../../store/call-thread.ts';
import type { StorePlace } from '../../store/ports/store.ts';
import { endDefinitionsMs, startDefinitionsThread } from '../definitions-thread.ts';
import type { MainVerbs, OperationVerbs, ThreadLog, ThreadVerbs } from './wire.ts';

/** @limit Time limit for one operation in the operations thread, in ms: 10,000 usual automations take a few seconds, and commands wait for 30 s. */
const operationMs = 20_000;
/** @limit Most requests of one API token that wait for the operations thread: a page of the dashboard sends a few at once. */
const requestsWaitingMax = 16;
/** @limit Times that an operation begins again because another one ended the thread: it may be the one that needs too much. */
const restartsMax = 3;

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
   * and runs next. While one waits for other processes, operations of other turns run; if one of these is stopped, it begins again. Fails with the problem `takes-too-long` if it was stopped, with `change-interrupted` if it may have changed something by then, and with `requests-waiting`.
   */
  run<Name extends keyof OperationVerbs>(
    verb: Name,
    argument: Parameters<OperationVerbs[Name]>[0],
    turn?: string,
  ): Promise<Awaited<ReturnType<OperationVerbs[Name]>>>;
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
  /** Gives it to the thread. */
  readonly begin: (number: number) => Promise<never>;
  readonly resolve: (result: Promise<never>) => void;
  restarts: number;
}

/** A job that the thread has. */
interface BegunJob {
  readonly job: Job;
  /** Whether it may have changed something, so that it cannot begin again. */
  hasChanged: boolean;
}

class SerialThread implements OperationsThread {
  readonly #options: OperationsThreadOptions;
  readonly #thread: CalledThread<ThreadVerbs>;
  readonly #turns = new Map<string, Job[]>();
  /** The jobs that the thread has, by their numbers: one that runs, and those that wait for other processes. */
  readonly #begun = new Map<number, BegunJob>();
  #jobs = 0;
  #running: number | undefined;
  /** Lets jobs go on that have waited for other processes. */
  readonly #ready = new Map<number, () => void>();
  #timer: NodeJS.Timeout | undefined;
  /** Whether the thread was told to end, and has not yet. */
  #isEnding = false;
  #closed = false;

  constructor(options: OperationsThreadOptions) {
    const { place, deliveryLog } = options;
    this.#options = options;
    const start = () => startDefinitionsThread('operations-worker', import.meta.url, place);
    this.#thread = callThread<ThreadVerbs>(start, {
      ...makeRunVerbs(verb => argument => deliveryLog[verb](argument)),
      recordTallies: argument => deliveryLog.recordTallies(argument),
      recordHealth: argument => deliveryLog.recordHealth(argument),
      waits: () => {
        if (this.#isEnding) return;
        this.#pause();
        this.#runNext();
      },
      changes: async number => {
        const begun = this.#begun.get(number);
        if (begun) begun.hasChanged = true;
      },
      goesOn: job =>
        new Promise(resolve => {
          this.#ready.set(job, resolve);
          this.#runNext();
        }),
    } satisfies MainVerbs);
  }

  run: OperationsThread['run'] = (verb, argument, turn = ownTurn) =>
    new Promise<never>((resolve, reject) => {
      if (this.#closed) return reject(new ApiProblem('takes-too-long'));
      const waiting = this.#turns.get(turn) ?? [];
      if (turn !== ownTurn && waiting.length >= requestsWaitingMax) {
        return reject(new ApiProblem('requests-waiting'));
      }
      const begin = (job: number) => this.#thread.call<never>(verb as never, [argument, job] as never);
      waiting.push({ turn, begin, resolve, restarts: 0 });
      this.#turns.set(turn, waiting);
      this.#runNext();
    });

  async close(): Promise<void> {
    this.#closed = true;
    for (const { resolve } of [...this.#turns.values()].flat())
      resolve(Promise.reject(new ApiProblem('takes-too-long')));
    this.#turns.clear();
    await this.#thread.end(endDefinitionsMs);
  }

  #runNext(): void {
    if (this.#running !== undefined || this.#isEnding) return;
    const [ready] = this.#ready;
    const next = ready ? undefined : this.#takeNext();
    if (ready) this.#goOn(...ready);
    else if (next) this.#begin(next);
  }

  #goOn(number: number, resolve: () => void): void {
    this.#ready.delete(number);
    this.#occupy(number);
    resolve();
  }

  #begin(job: Job): void {
    const number = ++this.#jobs;
    this.#begun.set(number, { job, hasChanged: false });
    this.#occupy(number);
    const answered = job.begin(number);
    const end = () => this.#end(number);
    answered.then(
      () => {
        end();
        job.resolve(answered);
      },
      (error: unknown) => {
        const next = error instanceof ThreadEnded ? this.#afterThread(number, error) : error;
        if (next) job.resolve(Promise.reject(next));
        end();
      },
    );
  }

  /** Lets a job begin again whose thread was ended by another one; returns the problem if that cannot be. */
  #afterThread(number: number, { cause }: ThreadEnded): ApiProblem | undefined {
    const { job, hasChanged } = this.#begun.get(number) as BegunJob;
    const isCause = number === this.#running;
    if (isCause) this.#isEnding = false;
    if (hasChanged) return new ApiProblem('change-interrupted', {}, { cause });
    if (isCause || this.#closed || job.restarts >= restartsMax)
      return new ApiProblem('takes-too-long', {}, { cause });
    job.restarts++;
    this.#turns.set(job.turn, [job, ...(this.#turns.get(job.turn) ?? [])]);
    return undefined;
  }

  #occupy(job: number): void {
    this.#running = job;
    this.#timer = setTimeout(() => {
      this.#isEnding = true;
      this.#thread.terminate();
    }, this.#options.operationMs ?? operationMs);
  }

  #takeNext(): Job | undefined {
    const begun = new Set([...this.#begun.values()].map(({ job }) => job.turn));
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

  #pause(): void {
    clearTimeout(this.#timer);
    this.#running = undefined;
  }

  #end(job: number): void {
    if (this.#running === job) this.#pause();
    this.#begun.delete(job);
    this.#ready.delete(job);
    this.#runNext();
  }
}
