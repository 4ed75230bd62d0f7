import type { Pool, PoolClient } from 'pg';
import { limitStatement } from './pool.ts';

/** @limit Time in which PostgreSQL must answer a rollback, in ms: it has nothing to wait for. */
const rollbackMs = 1_000;

/** Runs `work` in a transaction on a connection of its own: all of it is committed, or nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let result: T;
  try {
    // Every statement sees what was committed before it, above all the one after a lock.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED');
    result = await work(client);
    await client.query('COMMIT');
  } catch (error) {
    await rollBack(client);
    throw error;
  }
  client.release();
  return result;
}

/** Ends a transaction, and gives its connection back. One that cannot roll back is closed, which rolls back too. */
export async function rollBack(client: PoolClient): Promise<void> {
  const broken = await client.query(limitStatement(rollbackMs, 'ROLLBACK')).then(
    () => undefined,
    (error: Error) => error,
  );
  client.release(broken);
}
