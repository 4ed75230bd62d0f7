import type { SentAppliedState } from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { AppliedStateRef } from '../../../ports/delivery-log.ts';
import { selectSnapshot } from './rows.ts';

export interface Snapshots {
  /** Keeps the text of a factory's state, if it was sent: the next deliveries refer to it. */
  learn(factory: string, state: SentAppliedState): void;
  /** Learns the automations that judged a delivery, and stores them unless they are stored. Returns their key. */
  storeApplied(factory: string, state: SentAppliedState): number;
  /** Does the same for a state that is always given with its text. */
  store(state: AppliedStateRef): number;
  read(digest: string): string | undefined;
  /** Counts rows that refer to a snapshot from now on. */
  addUses(key: number, uses: number): void;
  /** Counts rows that were removed; the snapshot is removed with the last one. */
  removeUses(key: number, uses: number): void;
  /** Forgets the known keys. Call it after a rollback or a removal. */
  forgetRows(): void;
}

export function openSnapshots(database: SqliteDatabase): Snapshots {
  const lastApplied = new Map<string, AppliedStateRef & { key?: number }>();
  const insert = database.prepare<[string, string]>(
    'INSERT INTO snapshots (digest, json) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const selectKey = database.prepareColumn<[string], number>('SELECT key FROM snapshots WHERE digest = ?');
  const selectJson = database.prepareColumn<[string], string>(selectSnapshot);
  const count = database.prepareColumn<[number, number], number>(`
      INSERT INTO snapshot_uses (snapshot, uses) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET uses = uses + excluded.uses RETURNING uses`);
  const removeCount = database.prepare<[number]>('DELETE FROM snapshot_uses WHERE snapshot = ?');
  const remove = database.prepare<[number]>('DELETE FROM snapshots WHERE key = ?');

  const store = ({ digest, json }: AppliedStateRef): number => {
    insert.run(digest, json);
    const key = selectKey.get(digest);
    if (key === undefined) throw new Error(`snapshot ${digest} was not stored`);
    return key;
  };

  const learn = (factory: string, { digest, json }: SentAppliedState): void => {
    if (json !== undefined) lastApplied.set(factory, { digest, json });
  };

  return {
    learn,
    storeApplied(factory, sent) {
      learn(factory, sent);
      const { digest } = sent;
      const state = lastApplied.get(factory);
      if (state?.digest !== digest) throw new Error(`the text of snapshot ${digest} was not sent`);
      state.key ??= store(state);
      return state.key;
    },
    store,
    read: digest => selectJson.get(digest),
    addUses: (key, uses) => void count.get(key, uses),
    removeUses(key, uses) {
      if (count.get(key, -uses) !== 0) return;
      removeCount.run(key);
      remove.run(key);
    },
    forgetRows() {
      for (const state of lastApplied.values()) delete state.key;
    },
  };
}
