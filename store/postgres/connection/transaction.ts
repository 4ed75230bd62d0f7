import type { Pool, PoolClient } from 'pg';
import { limitStatement } from './pool.ts';

/** @limit Time in which PostgreSQL must answer a rollback, in ms: it has nothing to wait for. */
const rollbackMs = 1_000;

/** Runs `work` in a transaction on a connection of its own: all of it is committed, or nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    // Every statement sees what was committed before it, above all the one after a lock.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A connection that cannot roll back is closed, which rolls back too.
    await client.query(limitStatement(rollbackMs, 'ROLLBACK')).catch((rollbackError: Error) => {
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
