import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openPostgresStore } from '../../../../store/postgres/postgres-store.ts';
import { emptyTables, type SharedServer, useEmptyDatabases } from '../../../support/postgres.ts';
import { type MakePlace, type Place, withKept } from '../conformance/place.ts';

const environment = { HOOKMILL_KEY: randomBytes(32).toString('base64') };

/** A database, and a home as every machine has one. */
export function postgresPlace(url: string, directUrl?: string): Place {
  const home = mkdtempSync(join(tmpdir(), 'store-'));
  const postgres = { url, directUrl, mayLose: false };
  return {
    open: options =>
      openPostgresStore({
        ...{ home, postgres, environment, lockTimeoutMs: 10_000, readsInThread: false },
        now: () => new Date(),
        ...options,
      }),
  };
}

/** Makes places in databases of this server without rows, at most two for each test. */
export function postgresPlaces(server: SharedServer): MakePlace {
  const nextUrl = useEmptyDatabases(server, 2);
  return withKept(
    () => postgresPlace(nextUrl()),
    async () => {
      const url = await server.createDatabaseWithTables();
      const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0 });
      return {
        ...postgresPlace(url),
        // The log's thread remembers its lease and the keys of snapshots.
        empty: async () => void (await pool.query(emptyTables(['replicas', 'snapshots']))),
        close: () => pool.end(),
      };
    },
  );
}
