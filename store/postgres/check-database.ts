import type { ClientBase, Pool } from 'pg';
import type { StoreReport } from '../ports/store.ts';
import { DeliveryLogError } from '../ports/store-error.ts';
import { limitStatement } from './connection/pool.ts';
import { readTablesVersion, type TablesVersion, tablesVersionCurrent } from './migrations.ts';

/** @limit Largest difference between the clocks of this machine and the database, in ms: ages and leases are measured with both. */
const clockDifferenceMs = 2_000;
/** @limit Oldest version of PostgreSQL, as its `server_version_num`: all newer ones are tested. */
const serverVersionMin = 140_000;
/** @limit Time in which PostgreSQL must compare all runs with their deliveries, in ms: a large log takes minutes. */
const countMs = 10 * 60 * 1000;

const durabilitySettings = ['synchronous_commit', 'fsync', 'full_page_writes'] as const;

interface Server extends Readonly<Record<(typeof durabilitySettings)[number], string>> {
  readonly version: string;
  readonly versionNumber: number;
  readonly nowMs: number;
}

/** Checks a database for everything that the promises of its store depend on. Changes nothing. */
export async function checkDatabase(
  pool: Pool,
  nowMs: () => number,
): Promise<StoreReport & { readonly isCurrent: boolean }> {
  const asked = nowMs();
  const server = await readServer(pool);
  const clockAheadMs = Math.round(server.nowMs - (asked + nowMs()) / 2);
  const tables = await readTablesVersion(pool);
  const partitions = tables && (await readPartitions(pool));
  const invalid = tables ? await listInvalidIndexes(pool) : [];
  const isCurrent = tables?.version === tablesVersionCurrent;
  const strayRuns = isCurrent ? await countStrayRuns(pool) : 0;
  return {
    isCurrent,
    facts: {
      PostgreSQL: server.version,
      tables: tables ? `version ${tables.version} of ${tablesVersionCurrent}` : 'none',
      ...Object.fromEntries(durabilitySettings.map(name => [name, server[name]])),
      clock: `${Math.abs(clockAheadMs)} ms ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine`,
      partitions: partitions?.last ? `${partitions.count}, until ${partitions.last}` : 'none',
      replicas: `${partitions?.replicas ?? 0} alive`,
    },
    problems: [
      ...findServerProblems(server, clockAheadMs),
      ...findTableProblems(tables),
      ...(partitions && partitions.replicas > 0 && !partitions.hasTomorrow
        ? ['there is no partition for tomorrow: see the logs of the daemons, which create it']
        : []),
      ...(strayRuns > 0 ? [`${strayRuns} runs have no delivery: restore a backup`] : []),
      ...invalid.map(name => `the index ${name} is invalid: run REINDEX INDEX CONCURRENTLY ${name}`),
    ],
  };
}

function findServerProblems(server: Server, clockAheadMs: number): string[] {
  const off = durabilitySettings.filter(name => server[name] === 'off');
  return [
    ...(server.versionNumber < serverVersionMin ? ['PostgreSQL is too old: use version 14 or newer'] : []),
    ...off.map(
      name => `${name} is off: a crash may lose deliveries that were answered with 202; set it to on`,
    ),
    ...(Math.abs(clockAheadMs) > clockDifferenceMs
      ? ['the clocks of this machine and of the database differ: synchronise both']
      : []),
  ];
}

function findTableProblems(tables: TablesVersion | undefined): string[] {
  if (!tables) return ['there are no tables: run `hookmill store migrate`'];
  if (tables.version < tablesVersionCurrent) return ['the tables are outdated: run `hookmill store migrate`'];
  if (tables.compatibleFrom > tablesVersionCurrent)
    return ['a newer hookmill has changed the tables: use that version'];
  return [];
}

async function readServer(pool: Pool): Promise<Server> {
  const settings = durabilitySettings.map(name => `current_setting('${name}') AS ${name}`);
  const { rows } = await pool.query<Server>(`
    SELECT current_setting('server_version') AS version,
      current_setting('server_version_num')::integer AS "versionNumber",
      (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs", ${settings.join(', ')}`);
  const [server] = rows;
  if (!server) throw new Error('the server did not answer with its settings');
  return server;
}

interface Partitions {
  readonly count: number;
  /** The last day that has one, as a date. */
  readonly last: string | null;
  readonly hasTomorrow: boolean;
  readonly replicas: number;
}

async function readPartitions(pool: Pool): Promise<Partitions | undefined> {
  const { rows } = await pool.query<Partitions>(`
    WITH days AS (
      SELECT substring(relname FROM '[0-9]+$')::integer AS day
      FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
      WHERE inhparent = 'hookmill.deliveries'::regclass AND relname ~ '_[1-9][0-9]*$')
    SELECT count(*) AS count, (date '1970-01-01' + max(day))::text AS last,
      coalesce(max(day) > floor(extract(epoch FROM clock_timestamp()) / 86400), false) AS "hasTomorrow",
      (SELECT count(*) FROM hookmill.replicas WHERE lease_until > clock_timestamp()) AS replicas
    FROM days`);
  return rows[0];
}

async function listInvalidIndexes(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(`
    SELECT format('%I.%I', nspname, relname) AS name
    FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = 'hookmill' AND NOT (indisvalid AND indisready) ORDER BY 1`);
  return rows.map(({ name }) => name);
}

/** Counts the runs whose delivery is missing. */
async function countStrayRuns(pool: Pool): Promise<number> {
  const text = `
    SELECT count(*) FROM hookmill.runs WHERE NOT EXISTS (
      SELECT FROM hookmill.deliveries WHERE deliveries.day = runs.day AND deliveries.id = runs.delivery_id)`;
  const { rows } = await pool.query<{ count: number }>(limitStatement(countMs, text));
  return rows[0]?.count ?? 0;
}

/**
 * Fails with `unsafe` if the server confirms commits that a crash may undo: a 202 means committed as durably as the
 * cluster is configured to. `mayLose` accepts such a server.
 */
export async function requireDurable(client: ClientBase, mayLose: boolean): Promise<void> {
  if (mayLose) return;
  const { rows } = await client.query<{ name: string; setting: string }>(
    "SELECT name, setting FROM pg_settings WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes')",
  );
  const off = rows.filter(({ setting }) => setting === 'off').map(({ name }) => name);
  if (off.length === 0) return;
  const message = `PostgreSQL has ${off.join(' and ')} off, so deliveries that were answered with 202 may be lost in a crash; set it to on, or set HOOKMILL_STORE_MAY_LOSE=accepted-deliveries`;
  throw new DeliveryLogError('unsafe', message);
}
