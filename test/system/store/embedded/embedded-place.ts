import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../../../store/embedded/embedded-store.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { SqliteDatabase } from '../../../../store/home/sqlite.ts';
import { type MakePlace, type Place, withKept } from '../conformance/place.ts';

/** Makes homes. Each store reads its delivery log in a thread of its own, or in the thread of the test. */
export function embeddedPlaces({ readsInThread } = { readsInThread: false }): MakePlace {
  const makePlace = (home = join(mkdtempSync(join(tmpdir(), 'store-')), 'home')): Place => ({
    open: options =>
      openEmbeddedStore({
        ...{ home, environment: {}, lockTimeoutMs: 10_000, readsInThread },
        now: () => new Date(),
        ...options,
      }),
  });
  return withKept(
    () => makePlace(),
    async () => {
      const home = join(mkdtempSync(join(tmpdir(), 'store-')), 'home');
      const { deliveryLogFile } = homeAt(home);
      return {
        ...makePlace(home),
        empty: async () => emptyLog(deliveryLogFile),
        close: async () => undefined,
      };
    },
  );
}

/** Removes all rows, but those whose keys the log's thread remembers. */
function emptyLog(file: string): void {
  const database = new SqliteDatabase(file);
  const tables = database.prepareColumn<[], string>(`
    SELECT name FROM sqlite_schema WHERE type = 'table'
      AND name NOT IN ('series', 'snapshots', 'snapshot_uses', 'tally_position')`);
  database.pragma('foreign_keys = OFF');
  database.pragma('synchronous = OFF');
  const deletes = tables.all().map(name => `DELETE FROM ${name};`);
  database.exec(`BEGIN; ${deletes.join(' ')}
    UPDATE tally_position SET seq = 0, seen_ms = 0, listening_since_ms = 0; COMMIT`);
  database.close();
}
