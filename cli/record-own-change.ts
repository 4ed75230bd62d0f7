import { hostname, userInfo } from 'node:os';
import { type ChangeToRecord, recordChange, type WhenRecorded } from '../operations/access/audit.ts';
import type { Store } from '../store/ports/store.ts';
import type { PlaceChange } from '../store/transfer-audit.ts';
import { requireHome } from './require-home.ts';

interface OwnChange {
  /** It changes all factories, or the store itself. */
  readonly isForAll?: true;
  /** A new home may begin with it. */
  readonly mayBegin?: true;
  readonly when?: WhenRecorded;
}

const placeChange = { isForAll: true, mayBegin: true, when: 'after' } as const;

/** The changes that no server offers, because they take a secret, files of this machine or the whole store. */
const ownChanges = {
  setSecret: { mayBegin: true },
  generateSecret: { mayBegin: true },
  declareSecret: { mayBegin: true },
  declareReferences: { isForAll: true, mayBegin: true, when: 'in-parts' },
  endSecretOverlap: {},
  shareSecret: { isForAll: true },
  removeSecret: {},
  rotateKey: { isForAll: true, when: 'in-parts' },
  endSession: { isForAll: true },
  salvageDeliveries: { isForAll: true },
  migrateStore: placeChange,
  copyStore: placeChange,
  restoreStore: placeChange,
} satisfies Record<PlaceChange, typeof placeChange> & Record<string, OwnChange>;

/** Makes a change to a store of this machine, and records it in the audit log. `describe` returns the final subject of its entry. */
export function recordOwnChange<T>(
  { store, factory }: { readonly store: Store; readonly factory?: string },
  operation: keyof typeof ownChanges,
  subject: string,
  change: () => Promise<T>,
  describe?: (result: T) => string | null,
): Promise<T> {
  const { isForAll, mayBegin, when }: OwnChange = ownChanges[operation];
  if (!mayBegin) requireHome(store.place);
  const entry = { ...findOwnActor(operation), factory: isForAll ? null : (factory ?? null), subject };
  return recordChange({ store, now: () => new Date() }, entry, change, describe, when);
}

/** Describes the user of this machine for the audit log. */
export function findOwnActor(operation: string): Pick<ChangeToRecord, 'who' | 'from' | 'operation'> {
  return { who: { kind: 'user', name: findUserName() }, from: hostname(), operation };
}

/** Finds the name of the user, or the number: in a container, some users have no name. */
function findUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
