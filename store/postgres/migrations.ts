import { readFile } from 'node:fs/promises';
import type { Pool, PoolClient } from 'pg';
import { toPackageFile } from '../package-file.ts';
import { StoreError } from '../ports/store-error.ts';
import { inTransaction, limitStatement, statementMs } from './connection/pool.ts';

/**
 * A migration of the tables. Migrations are only ever appended, and run in one transaction. Replicas are upgraded one after
 * the other, so the code before must work with the tables after: first a release expands them, a later one removes what is
 * no longer used.
 */
export interface TablesMigration {
  readonly sql: URL;
  /** The oldest `tablesVersionCurrent` whose code works with the tables after this migration. */
  readonly compatibleFrom: number;
}

/** The versions up to this number were those of hookmills that were never released. No number is given twice. */
const unreleasedVersions = 100;

/** The first one makes version 101. */
export const tablesMigrations: readonly TablesMigration[] = [
  { sql: toPackageFile('store/postgres/migrations/101-tables.sql'), compatibleFrom: 101 },
  { sql: toPackageFile('store/postgres/migrations/102-due-by-factory.sql'), compatibleFrom: 101 },
];

/** The version of the tables that this hookmill writes. */
export const tablesVersionCurrent = unreleasedVersions + tablesMigrations.length;

/**
 * Creates or updates the tables, under a lock, so that replicas that start together do not collide. Fails with
 * `newer-format` if only a newer hookmill can work with them.
 */
export async function migrateTables(pool: Pool, migrations = tablesMigrations): Promise<void> {
  const found = await readTablesVersion(pool);
  if (found && found.version >= unreleasedVersions + migrations.length) return requireCompatible(found);
  await inTransaction(pool, async client => {
    await client.query(limitStatement(statementMs, 'SELECT pg_advisory_xact_lock($1)', [migrationLock]));
    const { version } = (await readTablesVersion(client)) ?? { version: unreleasedVersions };
    if (version < unreleasedVersions) throw unreleasedError(version);
    if (version === unreleasedVersions) {
      await client.query(`
        CREATE SCHEMA IF NOT EXISTS hookmill;
        CREATE TABLE hookmill.migrations (
          version integer PRIMARY KEY, compatible_from integer NOT NULL, at timestamptz NOT NULL DEFAULT now())`);
    }
    for (const [index, { sql, compatibleFrom }] of migrations.entries()) {
      if (unreleasedVersions + index < version) continue;
      await client.query(limitStatement(statementMs, await readFile(sql, 'utf8')));
      await client.query('INSERT INTO hookmill.migrations (version, compatible_from) VALUES ($1, $2)', [
        unreleasedVersions + index + 1,
        compatibleFrom,
      ]);
    }
  });
}

/** Returns a function that creates or updates the tables when it is first called, and again after a failure. */
export function migrateOnce(pool: Pool): () => Promise<void> {
  let migrated: Promise<void> | undefined;
  return () => {
    migrated ??= migrateTables(pool).catch((error: unknown) => {
      migrated = undefined;
      throw error;
    });
    return migrated;
  };
}

export interface TablesVersion {
  /** What the last migration made of them. */
  readonly version: number;
  readonly compatibleFrom: number;
}

/** The version of the tables; undefined if there are none. */
export async function readTablesVersion(client: Pool | PoolClient): Promise<TablesVersion | undefined> {
  // Not with to_regclass: it may answer from a cache that does not know what another connection has just created.
  const tables = await client.query(
    "SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'hookmill' AND tablename = 'migrations'",
  );
  if (tables.rowCount === 0) return undefined;
  const { rows } = await client.query<TablesVersion>(`
    SELECT version, compatible_from AS "compatibleFrom" FROM hookmill.migrations ORDER BY version DESC LIMIT 1`);
  return rows[0];
}

function requireCompatible({ version, compatibleFrom }: TablesVersion): void {
  if (compatibleFrom <= tablesVersionCurrent) return;
  const message = `the database has format ${version}, but this hookmill writes format ${tablesVersionCurrent}; use the newer hookmill that migrated it`;
  throw new StoreError('newer-format', message);
}

function unreleasedError(version: number): StoreError {
  const advice =
    'a development version made it: export its definitions with that version, and begin with an empty database';
  return new StoreError(
    'newer-format',
    `the database has format ${version}, but this hookmill writes format ${tablesVersionCurrent}; ${advice}`,
  );
}

// Any number that nothing else in the database uses: "hookmill" as eight bytes would not fit, its first seven do.
const migrationLock = '29401485033434732';
