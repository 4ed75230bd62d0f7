import type { SqliteDatabase } from '../../../home/sqlite.ts';

/** @limit Series whose keys the log's thread remembers: enough for more webhooks than are busy at the same time. */
const keysKeptMax = 10_000;

/** The columns that are the same in all deliveries of a series; so is their outcome. */
export interface SeriesColumns {
  readonly factory: string;
  readonly webhook: string;
  readonly uid: string;
  readonly authenticatedBy?: string | null;
  readonly verifiedWith?: string | null;
  readonly identitySource?: string | null;
}

export interface Series {
  /** Returns the key of a series, which is stored with its first delivery. */
  store(columns: SeriesColumns, outcome: string): number;
  /** Forgets the known keys. Call it after a rollback. */
  forgetRows(): void;
}

export function openSeries(database: SqliteDatabase): Series {
  const keys = new Map<string, number>();
  type Columns = [string, string, string, string, string | null, string | null, string | null];
  const select = database.prepareColumn<Columns, number>(`
      SELECT key FROM series WHERE factory = ? AND webhook = ? AND uid = ? AND outcome = ?
        AND authenticated_by IS ? AND identity_source IS ? AND verified_with IS ?`);
  const insert = database.prepareColumn<Columns, number>(`
      INSERT INTO series (factory, webhook, uid, outcome, authenticated_by, identity_source, verified_with)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key`);

  return {
    store({ factory, webhook, uid, authenticatedBy, identitySource, verifiedWith }, outcome) {
      const columns: Columns = [
        ...([factory, webhook, uid, outcome] as const),
        ...([authenticatedBy ?? null, identitySource ?? null, verifiedWith ?? null] as const),
      ];
      const text = columns.join('\0');
      const known = keys.get(text);
      if (known !== undefined) return known;
      const key = select.get(...columns) ?? (insert.get(...columns) as number);
      if (keys.size >= keysKeptMax) keys.clear();
      keys.set(text, key);
      return key;
    },
    forgetRows: () => keys.clear(),
  };
}
