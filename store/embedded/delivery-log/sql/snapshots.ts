import type Database from 'better-sqlite3';
import type { AppliedStateRef } from '../../../delivery-log.ts';
import type { SentAppliedState } from '../../../delivery-log-thread/wire.ts';
import { selectSnapshot } from './rows.ts';

export interface Snapshots {
  /** Stores the automations that judged a delivery, unless they are stored already. Returns their key. */
  storeApplied(factory: string, state: SentAppliedState): number;
  /** Does the same for a state that is always given with its text. */
  store(state: AppliedStateRef): number;
  read(digest: string): string | undefined;
  /** Removes a snapshot that no delivery and no run refers to any more. */
  removeUnused(key: number): void;
  /** Forgets the known keys. Call it after a rollback or a removal. */
  forgetRows(): void;
}

export function openSnapshots(database: Database.Database): Snapshots {
  const lastApplied = new Map<string, AppliedStateRef & { key?: number }>();
  const insert = database.prepare<[string, string]>(
    'INSERT INTO snapshots (digest, json) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const selectKey = database.prepare<[string], number>('SELECT key FROM snapshots WHERE digest = ?').pluck();
  const selectJson = database.prepare<[string], string>(selectSnapshot).pluck();
  const remove = database.prepare<{ key: number }>(`
    DELETE FROM snapshots WHERE key = @key
      AND NOT EXISTS (SELECT 1 FROM deliveries WHERE snapshot = @key)
      AND NOT EXISTS (SELECT 1 FROM runs WHERE snapshot = @key)`);

  const store = ({ digest, json }: AppliedStateRef): number => {
    insert.run(digest, json);
    const key = selectKey.get(digest);
    if (key === undefined) throw new Error(`snapshot ${digest} was not stored`);
    return key;
  };

  return {
    storeApplied(factory, { digest, json }) {
      if (json !== undefined) lastApplied.set(factory, { digest, json });
      const state = lastApplied.get(factory);
      if (state?.digest !== digest) throw new Error(`the text of snapshot ${digest} was not sent`);
      state.key ??= store(state);
      return state.key;
    },
    store,
    read: digest => selectJson.get(digest),
    removeUnused: key => remove.run({ key }),
    forgetRows() {
      for (const state of lastApplied.values()) delete state.key;
    },
  };
}
