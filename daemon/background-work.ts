import type { Replicas } from '../store/ports/replicas.ts';

/** @limit Part of an interval for which work that another daemon has done counts: intervals of timers vary by a tenth. */
const turnFraction = 0.8;

/**
 * Makes a function that does `work` one at a time. Each call is answered by work that begins after it, so that no change
 * is missed: calls while work is in progress share what is done next. It rejects as its work does.
 */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const begin = () => {
    next = undefined;
    return work();
  };
  return () => {
    if (!next) {
      next = last.then(begin, begin);
      last = next;
    }
    return next;
  };
}

/**
 * A bounded look, again and again, at a list that is longer: it moves on, so that what stays in the list does not keep it from
 * what comes after.
 */
export class MovingLook {
  /** How many of the list are looked at together. */
  readonly limit: number;
  /** How many at its head to pass over. */
  skip = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Call it after a look with the number of those that it found, and of those among them that stay in the list. */
  moveOn(found: number, stayed: number): void {
    this.skip = found < this.limit ? 0 : this.skip + stayed;
  }
}

/**
 * Does work that the daemons of a store do by turns, once in each interval: undefined if another one is doing it or has
 * done it. `lost` aborts if another daemon may have begun the same work. Without replicas, each turn is this daemon's.
 */
export async function doInTurn<Result>(
  replicas: Pick<Replicas, 'takeTurn'> | undefined,
  name: string,
  intervalMs: number,
  work: (lost: AbortSignal) => Promise<Result>,
): Promise<{ readonly result: Result } | undefined> {
  if (!replicas) return { result: await work(new AbortController().signal) };
  const turn = await replicas.takeTurn(name, intervalMs * turnFraction);
  if (!turn) return undefined;
  try {
    return { result: await work(turn.lost) };
  } finally {
    await turn.end();
  }
}

/**
 * Settles as the work does, or is undefined as soon as the signal has aborted; the work goes on. Nothing of it stays on the
 * signal, which may live as long as the daemon: neither a listener nor, as `Promise.race` leaves on a promise that never
 * settles, a reaction.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  return Promise.race([aborted, work]).finally(() => signal.removeEventListener('abort', stop));
}
