import { hostname, userInfo } from 'node:os';
import {
  type BegunChange,
  beginChange,
  type ChangeToRecord,
  recordChange,
  recordMade,
} from '../operations/access/audit.ts';
import type { Store } from '../store/ports/store.ts';
import type { PlaceChange } from '../store/transfer-audit.ts';

/** Makes a change to the store itself, and records it in the audit log. `describe` returns the final subject of its entry. */
export function recordOwnChange<T>(
  { store, factory }: { readonly store: Store; readonly factory: string | null },
  operation: string,
  subject: string,
  change: () => Promise<T>,
  describe?: (result: T) => string | null,
): Promise<T> {
  const entry = { ...findOwnActor(operation), factory, subject };
  return recordChange({ store, now }, entry, change, describe);
}

/** Begins the entry of a change to the store itself. The caller ends it. */
export function beginOwnChange(
  { store, factory }: { readonly store: Store; readonly factory: string | null },
  operation: string,
  subject: string,
): Promise<BegunChange> {
  return beginChange({ store, now }, { ...findOwnActor(operation), factory, subject });
}

/** Records a change of a whole store that a command has made. */
export function recordOwnMade(store: Store, operation: PlaceChange, subject: string): Promise<void> {
  return recordMade({ store, now }, { ...findOwnActor(operation), factory: null, subject });
}

/** Describes the user of this machine for the audit log. */
export function findOwnActor(operation: string): Pick<ChangeToRecord, 'who' | 'from' | 'operation'> {
  return { who: { kind: 'user', name: findUserName() }, from: hostname(), operation };
}

const now = () => new Date();

/** Finds the name of the user, or the number: in a container, some users have no name. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
