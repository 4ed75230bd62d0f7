import { existsSync, globSync } from 'node:fs';
import { appendFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { findFreePort } from '../../support/free-port.ts';
import { query, runServerProgram, type StopMode } from '../../support/postgres.ts';
import { type Link, openLink } from './link.ts';
import { waitFor } from './wait-for.ts';

/** A primary server of PostgreSQL with a synchronous standby: a commit is confirmed when both have it. */
export interface Cluster {
  /** The URL of the database on the primary server. */
  url(): string;
  /** Runs a statement on the primary server, past all links. */
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
  /** Opens a link to the primary server, whichever it is. */
  openLink(): Promise<Link>;
  /** The link by which the standby follows. */
  readonly standbyLink: Link;
  /** Stops the primary server, does `meanwhile`, and starts it again. */
  restart(mode: StopMode, meanwhile: () => Promise<void>): Promise<void>;
  /** Crashes the primary server, makes the standby primary, and makes a new standby. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export const databaseName = 'faults';

interface Server {
  readonly data: string;
  readonly port: number;
}

/** Where Debian and others install the programs of a server; the npm package has no `pg_basebackup`. */
export function findServerPrograms(): string | undefined {
  const found = globSync(['/usr/lib/postgresql/*/bin/pg_basebackup', '/usr/pgsql-*/bin/pg_basebackup']);
  const directories = [...found.map(dirname), ...(process.env.PATH ?? '').split(':')];
  return directories.find(directory =>
    ['initdb', 'pg_ctl', 'pg_basebackup'].every(name => existsSync(join(directory, name))),
  );
}

/** Starts a cluster whose files are below `directory`. */
export async function startCluster(directory: string): Promise<Cluster> {
  const programs = findServerPrograms();
  if (!programs) throw new Error('this needs a PostgreSQL server with pg_basebackup: install postgresql');
  const run = (name: string, ...args: string[]) => runServerProgram(join(programs, name), args);
  const control = ({ data, port }: Server, ...args: string[]) =>
    run('pg_ctl', '-D', data, '-w', '-s', '-l', `${data}.log`, '-o', `-p ${port}`, ...args);
  const links: Link[] = [];
  let primary = { data: join(directory, 'server-1'), port: await findFreePort() };
  await makePrimary(run, primary, directory);
  await control(primary, 'start');
  const standbyLink = await openLink(primary.port);
  links.push(standbyLink);

  let servers = 1;
  const makeStandby = async (): Promise<Server> => {
    const server = { data: join(directory, `server-${++servers}`), port: await findFreePort() };
    const from = ['-h', '127.0.0.1', '-p', `${standbyLink.port}`, '-U', 'hookmill'];
    await run('pg_basebackup', ...from, '-D', server.data, '-R', '-c', 'fast', '--no-sync');
    await control(server, 'start');
    return server;
  };
  let standby = await makeStandby();
  const url = (database: string = databaseName) =>
    `postgres://hookmill@127.0.0.1:${primary.port}/${database}`;
  await query(url('postgres'), `CREATE DATABASE ${databaseName}`);

  return {
    url,
    standbyLink,
    query: (text, values) => query(url(), text, values),
    openLink: async () => {
      const link = await openLink(primary.port);
      links.push(link);
      return link;
    },
    restart: async (mode, meanwhile) => {
      await control(primary, '-m', mode, 'stop');
      await meanwhile();
      await control(primary, 'start');
    },
    failOver: async () => {
      await control(primary, '-m', 'immediate', 'stop');
      await control(standby, 'promote');
      await rm(primary.data, { recursive: true });
      primary = standby;
      for (const link of links) link.lead(primary.port);
      standbyLink.heal();
      standby = await makeStandby();
      await waitFor('the new standby', async () => {
        const text = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
        const { rowCount } = await query(url(), text);
        return rowCount === 1;
      });
    },
    stop: async () => {
      for (const server of [standby, primary]) await control(server, '-m', 'immediate', 'stop');
      for (const link of links) await link.close();
    },
  };
}

async function makePrimary(
  run: (name: string, ...args: string[]) => Promise<void>,
  { data }: Server,
  directory: string,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  await run('initdb', '-D', data, '-U', 'hookmill', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C');
  const settings = [
    "listen_addresses = '127.0.0.1'",
    `unix_socket_directories = '${directory}'`,
    'shared_buffers = 64MB',
    'max_connections = 200',
    "synchronous_standby_names = '*'",
    // Enough for a standby that was cut off for the time of a round.
    'wal_keep_size = 512MB',
    'wal_retrieve_retry_interval = 200ms',
  ];
  await appendFile(join(data, 'postgresql.conf'), `${settings.join('\n')}\n`);
}
