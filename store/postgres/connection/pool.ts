import pg, { type Pool, type PoolClient } from 'pg';
import { toStorableValues } from './text.ts';

/** @limit Wait for a connection to PostgreSQL, in ms: senders get their 503 before they give up. */
export const connectMs = 4_000;
/** @limit Time in which PostgreSQL must answer one statement, in ms: beyond it, the connection counts as dead. */
export const statementMs = 30_000;
/** @limit Time after which the system asks whether the other side of a silent connection is there, in ms: firewalls forget such connections. */
const keepAliveMs = 5_000;
/** @limit Wait for connections to be closed, in ms: a database that does not answer must not delay a stop. */
const closeMs = 2_000;

interface PoolOptions {
  readonly connectionsMax: number;
  /** Time in which PostgreSQL must answer one statement, in ms. */
  readonly answerMs?: number;
  /** Whether connections stay open while they are idle. Otherwise they are closed after 10 s. */
  readonly keepsIdle?: boolean;
  /** Called with each new connection, before it is used. If it fails, the connection is not used. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<void>;
}

/** Opens a pool. It connects when it is first used, and connects again after a connection was lost. */
export function openPool(
  url: string,
  { connectionsMax, answerMs = statementMs, keepsIdle = false, onConnect }: PoolOptions,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'hookmill',
    max: connectionsMax,
    connectionTimeoutMillis: connectMs,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    ...(keepsIdle && { idleTimeoutMillis: 0 }),
    // A command ends although its connections are open.
    allowExitOnIdle: true,
    types: numbersForBigints,
    ...(onConnect && { onConnect }),
  });
  // An idle connection that is lost is replaced. In use, the statement on it fails by itself, or the next one.
  pool.on('error', ignore);
  pool.on('connect', client => client.on('error', ignore));
  return pool;
}

/** Waits until connections are closed, but not for those whose other side is silent. */
export async function waitForClose(closing: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<void>();
  const timer = setTimeout(timeout.resolve, closeMs);
  await Promise.race([closing, timeout.promise]);
  clearTimeout(timer);
}

/** A statement that PostgreSQL must answer within `limitMs`. */
export function limitStatement(
  limitMs: number,
  text: string,
  values: readonly unknown[] = [],
): pg.QueryConfig {
  return { text, values: toStorableValues(values), query_timeout: limitMs } as pg.QueryConfig;
}

function ignore(): undefined {
  return undefined;
}

/** Names host, port and database of a connection URL, without its user and password. */
export function describeTarget(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host || 'PostgreSQL'}${pathname === '/' ? '' : pathname}`;
}

/** Every bigint here is a time in ms or a count, which a number holds exactly. */
const numbersForBigints: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== 'binary'
      ? Number
      : pg.types.getTypeParser(oid, format as 'text'),
};

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
