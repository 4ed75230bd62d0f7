import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../../../store/postgres/postgres-store.ts';
import type { Place } from '../conformance/place.ts';

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
