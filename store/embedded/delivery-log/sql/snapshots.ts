import type Database from 'better-sqlite3';
import type { AppliedStateRef } from '../../../delivery-log.ts';
import type { SentAppliedState } from '../write/wire.ts';
import { selectSnapshot } from './rows.ts';

export interface Snapshots {
  /** The row of the automations in force at a delivery; stored in the running transaction if it is not there. */
  keyOf(factory: string, state: SentAppliedState): number;
  /** The same for a text that came along, with no regard to what is in force. */
  store(state: AppliedStateRef): number;
  read(digest: string): string | undefined;
  /** Removes the row if no delivery and no run refers to it any longer. */
  removeUnused(key: number): void;
  /** After a rollback or a removal: rows seen before may be gone. */
  forgetRows(): void;
}

export function openSnapshots(database: Database.Database): Snapshots {
  const inForce = new Map<string, AppliedStateRef & { key?: number }>();
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
    keyOf(factory, { digest, json }) {
      if (json !== undefined) inForce.set(factory, { digest, json });
      const state = inForce.get(factory);
      if (state?.digest !== digest) throw new Error(`the text of snapshot ${digest} was not sent`);
      state.key ??= store(state);
      return state.key;
    },
    store,
    read: digest => selectJson.get(digest),
    removeUnused: key => remove.run({ key }),
    forgetRows() {
      for (const state of inForce.values()) delete state.key;
    },
  };
}
