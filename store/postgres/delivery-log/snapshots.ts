import type { ClientBase } from 'pg';
import type { SentAppliedState } from '../../delivery-log/thread/wire.ts';
import type { AppliedStateRef } from '../../ports/delivery-log.ts';

/** The automations that judged deliveries, stored once for each digest. */
export interface PostgresSnapshots {
  /** Remembers the text that was sent for a factory's state, and returns the whole state. */
  complete(factory: string, state: SentAppliedState): AppliedStateRef;
  /** Stores a snapshot, unless it is stored, and returns its key. */
  store(client: Pick<ClientBase, 'query'>, state: AppliedStateRef, day: number): Promise<number>;
  /** The key of a snapshot that this process has stored on this day or later. The server may have lost it since. */
  findKey(digest: string, day: number): number | undefined;
  read(client: Pick<ClientBase, 'query'>, digest: string): Promise<string | undefined>;
  forgetKeys(): void;
}

export function openPostgresSnapshots(): PostgresSnapshots {
  const lastApplied = new Map<string, AppliedStateRef>();
  const keys = new Map<string, { readonly key: number; readonly day: number }>();
  return {
    complete(factory, { digest, json }) {
      if (json !== undefined) lastApplied.set(factory, { digest, json });
      const state = lastApplied.get(factory);
      if (state?.digest !== digest) throw new Error(`the text of snapshot ${digest} was not sent`);
      return state;
    },
    async store(client, { digest, json }, day) {
      const { rows } = await client.query<{ key: number }>(
        `INSERT INTO hookmill.snapshots (digest, json, used_day) VALUES ($1, $2, $3)
        ON CONFLICT (digest) DO UPDATE SET used_day = greatest(snapshots.used_day, excluded.used_day) RETURNING key`,
        [digest, json, day],
      );
      const key = rows[0]?.key as number;
      keys.set(digest, { key, day });
      return key;
    },
    findKey(digest, day) {
      const known = keys.get(digest);
      return known && known.day >= day ? known.key : undefined;
    },
    async read(client, digest) {
      const { rows } = await client.query<{ json: string }>(
        'SELECT json FROM hookmill.snapshots WHERE digest = $1',
        [digest],
      );
      return rows[0]?.json;
    },
    forgetKeys: () => keys.clear(),
  };
}
