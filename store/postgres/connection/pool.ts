import pg from 'pg';

/** @limit Wait for a connection to PostgreSQL, in ms: senders get their 503 before they give up. */
const connectMs = 4_000;
/** @limit Time in which PostgreSQL must answer one statement, in ms: beyond it, the connection counts as dead. */
export const statementMs = 30_000;

export interface PoolOptions {
  readonly connectionsMax: number;
  /** Called with each new connection, before it is used. If it fails, the connection is not used. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<void>;
}

/** Opens a pool. It connects when it is first used, and connects again after a connection was lost. */
export function openPool(url: string, { connectionsMax, onConnect }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'hookmill',
    max: connectionsMax,
    connectionTimeoutMillis: connectMs,
    query_timeout: statementMs,
    keepAlive: true,
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
