import type { Pool } from 'pg';
import type { RunAttempt } from '../../ports/delivery-log.ts';
import { openPool } from '../connection/pool.ts';

/** @limit Time for which a daemon's runs belong to it after its last sign of life, in ms: others take over within 15 s. */
const leaseMs = 10_000;
/** @limit Time between two signs of life, in ms: three may be lost. */
const renewMs = 2_500;
/** @limit Time in which PostgreSQL must answer a sign of life, in ms: the next one then uses a new connection. */
const renewAnswerMs = 2_000;

/** Opens one connection for signs of life: it never waits for batches, and is replaced as soon as it is silent. */
export function openLeasePool(url: string): Pool {
  return openPool(url, { connectionsMax: 1, answerMs: renewAnswerMs, keepsIdle: true });
}

/**
 * The sign of life of a daemon, by which runs belong to it. When others may have taken them over, it goes on under a new
 * name, so that no late result of an old attempt counts.
 */
export class Lease {
  readonly #pool: Pick<Pool, 'query' | 'end'>;
  #daemonId: string | undefined;
  #lost = 0;
  #renewedMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> | undefined;

  readonly #onLost: () => void;

  /** Takes the pool over (`openLeasePool`). `onLost` is called when others may have taken over the runs. */
  constructor(pool: Pick<Pool, 'query' | 'end'>, onLost: () => void) {
    this.#pool = pool;
    this.#onLost = onLost;
  }

  /** The name under which the daemon now claims runs. Renews the lease if it is not certain. */
  async hold(daemonId: string): Promise<string> {
    this.#daemonId ??= daemonId;
    if (!this.#timer) {
      this.#timer = setInterval(() => void this.#renew().catch(() => undefined), renewMs);
      this.#timer.unref();
    }
    if (performance.now() - this.#renewedMs > renewMs) await this.#renew();
    return this.#name;
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    // If it cannot be deleted, it expires by itself.
    if (this.#daemonId !== undefined)
      await this.#pool
        .query('DELETE FROM hookmill.replicas WHERE id = $1', [this.#name])
        .catch(() => undefined);
    await this.#pool.end();
  }

  get #name(): string {
    return this.#lost === 0 ? `${this.#daemonId}` : `${this.#daemonId}.${this.#lost}`;
  }

  /** One at a time, so that a lost lease gets one new name. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOrBegin().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewOrBegin(): Promise<void> {
    const sentMs = performance.now();
    const renewed = await this.#pool.query(renewLease, [this.#name, leaseMs]);
    if (renewed.rowCount === 0) await this.#begin();
    this.#renewedMs = sentMs;
  }

  async #begin(): Promise<void> {
    if (this.#renewedMs > Number.NEGATIVE_INFINITY) {
      this.#lost++;
      this.#onLost();
    }
    await this.#pool.query(
      "DELETE FROM hookmill.replicas WHERE lease_until < clock_timestamp() - interval '1 hour'",
    );
    await this.#pool.query(
      `INSERT INTO hookmill.replicas (id, lease_until) VALUES ($1, clock_timestamp() + $2 * interval '1 ms')
      ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`,
      [this.#name, leaseMs],
    );
  }
}

/** Does not wait for a standby: after a failover, a lease that is missing is only taken under a new name. */
const renewLease = `
  UPDATE hookmill.replicas SET lease_until = clock_timestamp() + $2 * interval '1 ms'
  FROM (SELECT set_config('synchronous_commit', 'local', true)) AS here
  WHERE id = $1 AND lease_until > clock_timestamp()`;

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
