import { setTimeout as delay } from 'node:timers/promises';

/** Does some work, and returns how long it took, in ms. */
export async function timeMs(work: () => unknown): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

/** Looks every few ms until there is something, and returns it. */
export async function until<T>(
  pollMs: number,
  look: () => T | Promise<T>,
): Promise<Exclude<T, false | undefined>> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen as Exclude<T, false | undefined>;
    await delay(pollMs);
  }
}

/** Acts so many times a second until `end` has resolved, whether or not the work of earlier acts has ended. */
export async function pace(
  perSecond: number,
  end: Promise<unknown>,
  act: (count: number) => void,
): Promise<void> {
  let isOver = false;
  const stop = () => {
    isOver = true;
  };
  end.then(stop, stop);
  const startMs = performance.now();
  for (let count = 0; !isOver; await delay(1_000 / perSecond)) {
    const due = ((performance.now() - startMs) / 1_000) * perSecond;
    for (; count < due; count++) act(count);
  }
  await end;
}

/**
 * Measures the cases in turn, round after round, so that other load on the machine affects all equally. Calls `onRound`
 * before each round; the first one, with the number 0, only warms up. Returns the results of each case by round.
 */
export async function measureInTurn<Name extends string, Result>(
  cases: Readonly<Partial<Record<Name, () => Result | Promise<Result>>>>,
  rounds: number,
  onRound?: (round: number) => void,
): Promise<Record<Name, Result[]>> {
  const measures = Object.entries(cases) as [Name, () => Result | Promise<Result>][];
  const results = {} as Record<Name, Result[]>;
  for (let round = 0; round <= rounds; round++) {
    onRound?.(round);
    for (const [name, measure] of measures) {
      const result = await measure();
      results[name] ??= [];
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

/** Measures the cases in turn, and returns the smallest result of each: other load disturbed it least. */
export async function measureFastest<Name extends string>(
  cases: Readonly<Record<Name, () => number | Promise<number>>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const results = Object.entries<number[]>(await measureInTurn(cases, rounds));
  const fastest = results.map(([name, numbers]) => [name, Math.min(...numbers)]);
  return Object.fromEntries(fastest) as Record<Name, number>;
}
