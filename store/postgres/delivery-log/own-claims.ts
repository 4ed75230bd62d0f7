import type { RunAttempt } from '../../ports/delivery-log.ts';

/**
 * The claims of one process that have no result yet. A run that is running under the name of the process without being
 * here is executed by nobody: the answer to its claim was lost, or a failover undid its result.
 */
export class OwnClaims {
  readonly #claims = new Map<string, RunAttempt>();
  #last: Promise<unknown> = Promise.resolve();

  /** Does work that claims one after the other: a claim must know the runs of those before it, or would queue them again. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Call it with what was claimed under this name. */
  add(claimed: readonly RunAttempt[], claimedBy: string): void {
    for (const { id, claims } of claimed) this.#claims.set(id, { id, claims, claimedBy });
  }

  /** Forgets a claim whose result was answered. It may be a late one of a run that was claimed here again: that claim stays. */
  end({ id, claims, claimedBy }: RunAttempt): void {
    const known = this.#claims.get(id);
    if (known?.claims === claims && known.claimedBy === claimedBy) this.#claims.delete(id);
  }

  /** The IDs of the runs that were claimed under a name. */
  list(claimedBy: string): string[] {
    return [...this.#claims.values()].filter(claim => claim.claimedBy === claimedBy).map(({ id }) => id);
  }
}
