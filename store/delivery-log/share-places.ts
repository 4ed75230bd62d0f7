/** The first queued run of a factory on a runner. */
export interface QueueHead {
  readonly runner: string;
  readonly factory: string;
  /** When it is due. */
  readonly atMs: number;
}

/** The places of a runner that a factory gets. */
export interface FactoryPlaces {
  readonly runner: string;
  readonly factory: string;
  readonly count: number;
}

/**
 * Gives the places of one runner to factories in turns: each one to the factory with the fewest runs there, and of several,
 * to the one that waits longest. `running` names the factory of each run that is executed there.
 */
export function sharePlaces(
  heads: readonly QueueHead[],
  running: readonly string[],
  places: number,
): FactoryPlaces[] {
  const shares = heads
    .toSorted((a, b) => a.atMs - b.atMs)
    .map(({ runner, factory }) => ({
      runner,
      factory,
      turn: running.filter(name => name === factory).length,
      count: 0,
    }));
  for (let place = 0; place < places; place += 1) {
    const turn = Math.min(...shares.map(share => share.turn));
    const next = shares.find(share => share.turn === turn);
    if (!next) break;
    next.turn += 1;
    next.count += 1;
  }
  return shares
    .filter(({ count }) => count > 0)
    .map(({ runner, factory, count }) => ({ runner, factory, count }));
}

/** Tells when the next run is due on a runner with free places, and which other runners have queued runs. */
export function findNext(
  heads: readonly QueueHead[],
  places: Readonly<Record<string, number>>,
  free: Readonly<Record<string, number>>,
): { readonly nextDueMs?: number; readonly otherRunners?: string[] } {
  const due = heads.filter(({ runner }) => free[runner] !== undefined).map(({ atMs }) => atMs);
  const runners = new Set(heads.map(({ runner }) => runner));
  const otherRunners = [...runners].filter(name => places[name] === undefined);
  return {
    ...(due.length > 0 && { nextDueMs: Math.min(...due) }),
    ...(otherRunners.length > 0 && { otherRunners }),
  };
}
