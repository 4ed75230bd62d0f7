import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import { DeliveryLogError } from '../../ports/store-error.ts';
import {
  isConflict,
  isConnectionLost,
  isPartitionMissing,
  isPreparedElsewhere,
} from '../connection/postgres-failure.ts';
import type { Partitions } from './partitions.ts';

/** @limit Time for which work is sent again after connections are lost, in ms: a server that restarts is back in time, and a sender hears of an outage at once. */
const outagePatienceMs = 3_000;
/** @limit Longest wait before work is sent again, in ms: the server is tried several times within the patience. */
const retryWaitMsMax = 400;
/** @limit Times that work is sent again after it conflicted with the work of another replica: each time, one of them succeeds. */
const conflictsMax = 20;

/** Sends work again until it is clear whether it was done. The work must give the same result if it was done before. */
export class Retries {
  readonly #pool: Pool;
  readonly #partitions: Partitions;
  /** The time at which connections began to fail; undefined while they work. */
  #failingSinceMs: number | undefined;
  #usesPreparedStatements = true;

  constructor(pool: Pool, partitions: Partitions) {
    this.#pool = pool;
    this.#partitions = partitions;
  }

  async run<T>(work: (attempt: number) => Promise<T>, days: readonly number[] = []): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        const result = await work(attempt);
        this.#failingSinceMs = undefined;
        return result;
      } catch (error) {
        await this.#recover(error, attempt, days);
      }
    }
  }

  /** Runs one statement on a connection, and fails if PostgreSQL gave up waiting for a standby that must have it. */
  async query<Row extends QueryResultRow>(query: QueryConfig): Promise<QueryResult<Row>> {
    const client = await this.#pool.connect();
    const replication = watchReplication(client);
    let broken: unknown;
    try {
      const { name: _, ...unnamed } = query;
      const result = await client.query<Row>(this.#usesPreparedStatements ? query : unnamed);
      replication.requireComplete();
      return result;
    } catch (error) {
      if (isConnectionLost(error)) broken = error;
      throw error;
    } finally {
      replication.end();
      client.release(broken !== undefined);
    }
  }

  /** Writes a row, to see whether the database accepts writes. */
  async probe(): Promise<void> {
    await this.query({ name: 'probe', text: 'UPDATE hookmill.probe SET at = now()', values: [] });
  }

  /** Prepares for sending the work again; throws the error if that is useless. */
  async #recover(error: unknown, attempt: number, days: readonly number[]): Promise<void> {
    // Batches that are in flight together meet this together.
    if (isPreparedElsewhere(error) && attempt <= conflictsMax) {
      this.#usesPreparedStatements = false;
      return;
    }
    if (isPartitionMissing(error) && attempt <= conflictsMax && days.length > 0)
      return this.#partitions.make(days).catch(failure => this.#recover(failure, attempt, []));
    if (isConflict(error) && attempt <= conflictsMax) return;
    if (!isConnectionLost(error)) throw error;
    const nowMs = performance.now();
    this.#failingSinceMs ??= nowMs;
    if (nowMs - this.#failingSinceMs > outagePatienceMs) throw error;
    // Random, so that replicas that lost the server together do not return together.
    await sleep(Math.random() * Math.min(retryWaitMsMax, 25 * 2 ** attempt));
  }
}

/**
 * Notices on a connection whether a commit was confirmed before its synchronous standby had it. PostgreSQL then only
 * warns; the name of its function is the one part of that warning that is never translated.
 * https://www.postgresql.org/docs/current/warm-standby.html#SYNCHRONOUS-REPLICATION
 */
function watchReplication(client: PoolClient) {
  let isIncomplete = false;
  const onNotice = (notice: { readonly routine?: string | undefined }) => {
    isIncomplete ||= notice.routine === 'SyncRepWaitForLSN';
  };
  client.on('notice', onNotice);
  return {
    requireComplete: () => {
      if (!isIncomplete) return;
      const message =
        'PostgreSQL stopped waiting for its standby, which may not have the delivery; send it again';
      throw new DeliveryLogError('late', message);
    },
    end: () => client.off('notice', onNotice),
  };
}
