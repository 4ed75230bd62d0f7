import { AsyncLocalStorage } from 'node:async_hooks';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';

/** Something that runs, and can be killed or held: a daemon with its thread, or the world outside. */
export interface Process {
  readonly name: string;
  isDead: boolean;
  /** Nothing of it runs before this time. */
  heldUntilMs: number;
  /** The number of its steps after which it is killed. */
  stepsLeft: number;
  /** Calls a function so that all that it leads to belongs to the process. */
  readonly enter: (run: () => void) => void;
}

const current = new AsyncLocalStorage<Process>();

export function createProcess(name: string): Process {
  const state = { name, isDead: false, heldUntilMs: 0, stepsLeft: 0 };
  let enter: Process['enter'] = run => run();
  const process = { ...state, enter: (run: () => void) => enter(run) };
  enter = current.run(process, () => AsyncLocalStorage.snapshot());
  return process;
}

interface Task {
  readonly process: Process;
  readonly run: () => void;
  /** For intervals, in ms. */
  readonly everyMs: number | undefined;
  atMs: number;
  /** Decides among tasks of the same time. */
  readonly chance: number;
}

/** Most by which a timer is late, in ms: an event loop is busy with other work. */
const lateMsMax = 3;

/**
 * A machine with a virtual clock on which several processes run, one step at a time: a timer, a message or an answer,
 * with everything that its promises lead to at once. Which step is next, and how late each is, is drawn from `random`.
 *
 * Inside of a step, the ambient timers and the monotonic clock of Node.js are those of this machine, and it has no
 * processes of others. Code that runs outside of a step, such as the test runner's, keeps its own.
 */
export class Scheduler {
  readonly #random: () => number;
  readonly #tasks = new Set<Task>();
  /** The network of processes. */
  fetch: (
    by: Process,
    request: { readonly headers: unknown; readonly signal?: AbortSignal },
  ) => Promise<unknown> = () => Promise.reject(new Error('no network'));
  /** The virtual time since the start, in ms. */
  nowMs = 0;
  steps = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Whether nothing is to be done at any time. */
  get isIdle(): boolean {
    return this.#tasks.size === 0;
  }

  /** Runs something of a process after so many ms. Returns what `cancel` takes. */
  add(process: Process, delayMs: number, run: () => void, everyMs?: number): Task {
    const atMs = this.nowMs + Math.max(0, delayMs) + this.#random() * lateMsMax;
    const task = { process, run, everyMs, atMs, chance: this.#random() };
    this.#tasks.add(task);
    return task;
  }

  cancel(task: Task): void {
    this.#tasks.delete(task);
  }

  /** Resolves in a later step of the process. */
  sleep(process: Process, delayMs: number): Promise<void> {
    return new Promise(resolve => void this.add(process, delayMs, resolve));
  }

  kill(process: Process): void {
    process.isDead = true;
    for (const task of this.#tasks) if (task.process === process) this.#tasks.delete(task);
  }

  /** Takes one step, and all that follows at once of it. False if there is nothing to do before `untilMs`. */
  async step(untilMs: number): Promise<boolean> {
    let next: Task | undefined;
    let nextMs = Infinity;
    for (const task of this.#tasks) {
      const atMs = Math.max(task.atMs, task.process.heldUntilMs);
      if (atMs > nextMs || (atMs === nextMs && next && task.chance > next.chance)) continue;
      [next, nextMs] = [task, atMs];
    }
    if (!next || nextMs > untilMs) {
      this.nowMs = Math.max(this.nowMs, untilMs);
      return false;
    }
    this.nowMs = Math.max(this.nowMs, nextMs);
    this.steps++;
    if (next.everyMs === undefined) this.#tasks.delete(next);
    else next.atMs = this.nowMs + next.everyMs + this.#random() * lateMsMax;
    next.process.enter(next.run);
    await nextTurn();
    if (--next.process.stepsLeft === 0) this.kill(next.process);
    return true;
  }

  /** Replaces the ambient timers and clock of steps. Returns a function that puts back what was there. */
  install(): () => void {
    const target: Record<string, unknown> = globalThis;
    const timers: Record<string, unknown> = timersPromises as never;
    const files: Record<string, unknown> = fsPromises as never;
    const restored = [
      ...this.#replaceTimers(target),
      replace(target, 'fetch', fetch => (url: unknown, request: never) => {
        const process = current.getStore();
        return process ? this.fetch(process, request) : fetch(url, request);
      }),
      replace(performance as never, 'now', now => () => (current.getStore() ? this.nowMs : now())),
      replace(timers, 'setTimeout', sleep => (ms: number, value: unknown, options: SleepOptions = {}) => {
        const process = current.getStore();
        return process ? this.#sleepUnless(process, ms, options) : sleep(ms, value, options);
      }),
      replace(files, 'readdir', readdir => (path: unknown, ...rest: unknown[]) => {
        return current.getStore() && path === '/proc' ? Promise.resolve([]) : readdir(path, ...rest);
      }),
    ];
    syncBuiltinESMExports();
    return () => {
      for (const restore of restored) restore();
      syncBuiltinESMExports();
    };
  }

  #replaceTimers(target: Record<string, unknown>): (() => void)[] {
    const start = (name: string, delayOf: (ms: number) => number, isRepeated = false) =>
      replace(target, name, original => (run: (...given: unknown[]) => void, ...rest: unknown[]) => {
        const process = current.getStore();
        if (!process) return original(run, ...rest);
        const ms = delayOf(Number(rest[0] ?? 0));
        return new VirtualTimer(this.add(process, ms, run, isRepeated ? ms : undefined));
      });
    const stop = (name: string) =>
      replace(target, name, original => (timer: unknown) => {
        if (timer instanceof VirtualTimer) this.cancel(timer.task);
        else original(timer);
      });
    return [
      start('setTimeout', ms => Math.max(1, ms)),
      start('setInterval', ms => Math.max(1, ms), true),
      start('setImmediate', () => 0),
      ...['clearTimeout', 'clearInterval', 'clearImmediate'].map(stop),
    ];
  }

  #sleepUnless(process: Process, ms: number, { signal }: SleepOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.cancel(task);
        reject(new DOMException('the wait was aborted', 'AbortError'));
      };
      const task = this.add(process, ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      });
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

interface SleepOptions {
  readonly signal?: AbortSignal;
}

class VirtualTimer {
  readonly task: Task;

  constructor(task: Task) {
    this.task = task;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

const setRealImmediate = setImmediate;

/** Node.js settles all promises before it turns to the next callback. */
function nextTurn(): Promise<void> {
  return new Promise(resolve => void setRealImmediate(resolve));
}

// biome-ignore lint/suspicious/noExplicitAny: functions of every shape.
type AnyFunction = (...given: any[]) => any;

function replace(
  target: Record<string, unknown>,
  name: string,
  make: (original: AnyFunction) => AnyFunction,
): () => void {
  const own = Object.getOwnPropertyDescriptor(target, name);
  const original = target[name] as AnyFunction;
  const bound = original.bind(target);
  Object.defineProperty(target, name, {
    value: make(bound),
    configurable: true,
    writable: true,
    enumerable: true,
  });
  return () => {
    if (own) Object.defineProperty(target, name, own);
    else delete target[name];
  };
}
