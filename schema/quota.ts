/** The places of something that all factories share. */
export interface Quota {
  /** Places for all factories together. */
  readonly all: number;
  /** Places of each factory, however many the others have taken. */
  readonly share: number;
  /** Places of what belongs to no factory, however many the factories have taken. */
  readonly reserve: number;
}

/** The owner of what belongs to no factory. */
export const operatorOwner = '';

/** Whether one more place may be taken for a factory. `owners` names the factory of each place that is taken. */
export function hasRoom({ all, share, reserve }: Quota, owners: readonly string[], factory: string): boolean {
  if (owners.length < all) return true;
  const own = owners.filter(owner => owner === factory).length;
  return own < (factory === operatorOwner ? reserve : share);
}

/** Sorts so that each factory comes once in each round, with its first one in the first round. */
export function inTurns<T>(all: readonly T[], getFactory: (one: T) => string): T[] {
  const taken = new Map<string, number>();
  const rounds = all.map(one => {
    const factory = getFactory(one);
    const round = taken.get(factory) ?? 0;
    taken.set(factory, round + 1);
    return { one, round };
  });
  return rounds.toSorted((a, b) => a.round - b.round).map(({ one }) => one);
}

/** Bounded looks at a list, in turns of factories: in each factory, a look begins behind the last one. */
export class LooksInTurns {
  readonly #limit: number;
  /** The place in each factory's part of the list at which the next look begins. */
  #next = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  take<T>(all: readonly T[], getFactory: (one: T) => string): T[] {
    const parts = [...Map.groupBy(all, getFactory)].map(([factory, own]) => {
      const next = (this.#next.get(factory) ?? 0) % own.length;
      return { factory, next, own: [...own.slice(next), ...own.slice(0, next)] };
    });
    const taken = inTurns(
      parts.flatMap(({ own }) => own),
      getFactory,
    ).slice(0, this.#limit);
    const counts = Map.groupBy(taken, getFactory);
    this.#next = new Map(
      parts.map(({ factory, next }) => [factory, next + (counts.get(factory)?.length ?? 0)]),
    );
    return taken;
  }
}
