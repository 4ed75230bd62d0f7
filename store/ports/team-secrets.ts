import type { SchemeReference } from '../../schema/definitions/custom-scheme.ts';
import type { AuthMode } from '../../schema/ingress-url.ts';
import { parseSecretReference, secretReferenceRule } from '../../schema/secret-reference.ts';
import { findSecretNameMistake } from '../../schema/text/credentials.ts';
import { StoreError } from './store-error.ts';

/** @limit Longest value of a team secret, in bytes: a private key in PEM fits, a file passed by mistake does not. */
export const secretBytesMax = 8 * 1024;

/** The team secrets. Each lists the factories that may use it. Values and references are stored sealed. */
export interface TeamSecrets {
  /**
   * Sets the value of a team secret. A new one is only for the given factory; without a factory, it is for all.
   * Setting the same value again changes nothing.
   */
  set(name: string, value: string, factory?: string): Promise<void>;
  /**
   * Sets the value of a team secret. The value that its webhooks use now stays valid beside it until the overlap ends, which
   * is returned. Only the applied states have that value. Fails with `secret-unknown`, or with `secret-overlap` if it cannot
   * be, and then changes nothing.
   */
  setOverlapping(name: string, value: string, overlapMs: number): Promise<string>;
  /** Ends an overlap here, before an apply puts the new value in force. Returns whether there was one. Fails with `secret-unknown`. */
  endOverlap(name: string): Promise<boolean>;
  /**
   * Sets where the value of a team secret is kept: `open` reads it there each time. A new one is for the given
   * factories; null: for all. Setting the same reference again changes nothing. Fails with `secret-invalid`.
   */
  refer(name: string, reference: string, factories: FactoriesAllowed): Promise<void>;
  /**
   * Creates a team secret, for the given factory as `set` does. Without a value it is declared: webhooks can name it
   * before the provider has issued the value. `madeFor`: the UID of the webhook whose creation makes it. Fails with
   * `secret-taken` if the name exists.
   */
  create(name: string, value: string | undefined, factory?: string, madeFor?: string): Promise<void>;
  /**
   * Changes which factories may use a team secret. Fails with `secret-in-use` if one that uses it would no longer be
   * allowed to, or with `secret-unknown`.
   */
  share(name: string, change: (factories: FactoriesAllowed) => FactoriesAllowed): Promise<void>;
  /** Fails with `secret-in-use` while a factory uses it, or with `secret-unknown`. */
  remove(name: string): Promise<void>;
  /** Removes the team secret that was made for a webhook, unless something uses it or several factories may. */
  removeMadeFor(uid: string): Promise<void>;
  /** All team secrets by name, without their values. */
  list(): Promise<TeamSecretInfo[]>;
  /** The names of the team secrets that the factory may use, sorted; without a factory, of all. */
  listNames(factory?: string): Promise<string[]>;
  /**
   * Opens the named team secrets, with their values. Leaves out those that do not exist. Those that the factory may not
   * use are `forbiddenTo` it, and have no value. Those whose value cannot be read from where it is kept are `unresolved`.
   * `readOutside` reads those that are kept elsewhere; with null, nobody does, and they are `isUnread`.
   */
  open(
    names: Iterable<string>,
    factory?: string,
    readOutside?: ReadOutside | null,
  ): Promise<Map<string, TeamSecret>>;
}

/** Reads what is kept outside the store. It may start processes and wait for them, and its caller may do other work meanwhile. */
export type ReadOutside = <T>(read: () => Promise<T>) => Promise<T>;

/** The factories that may use a team secret; null: all factories. */
export type FactoriesAllowed = readonly string[] | null;

/** Whether only this factory may use a team secret, among the factories that the store has. */
export function isOnlyFor(factories: FactoriesAllowed, factory: string, stored: readonly string[]): boolean {
  return (factories ?? stored).every(other => other === factory);
}

/** A team secret as it may be shown: without its value. */
export interface TeamSecretInfo {
  readonly name: string;
  readonly state: 'set' | 'declared' | 'reference';
  /** The reference, with the state `reference`; null if another key sealed it. */
  readonly from?: string | null;
  /** When the value before the current one ends that was set to overlap with it; absent if there is none, or it has ended. */
  readonly previousUntil?: string;
  readonly updatedAt: string;
  readonly factories: FactoriesAllowed;
  readonly usedBy: readonly TeamSecretUse[];
}

/** A factory that uses a team secret, for a webhook or for the repository that it follows. */
export interface TeamSecretUse {
  readonly factory: string;
  /** Absent for the repository, as are the next two. */
  readonly webhook?: string;
  /** The webhook uses it to ask its provider, and not to verify deliveries; the next two are then absent. */
  readonly isCredential?: true;
  readonly authMode?: AuthMode;
  readonly signatureScheme?: SchemeReference;
  /** When the previous value ends that the webhook accepts too; absent if there is none, or it has ended. */
  readonly previousUntil?: string;
}

/** A team secret as an apply sees it. Each new value has another version; a declared secret has neither. */
export interface TeamSecret {
  readonly name: string;
  readonly value?: { readonly version: string; readonly text: string };
  /** The version that stays valid beside the value where it was in force, and until when. It may have ended. */
  readonly overlap?: { readonly version: string; readonly since: string; readonly until: string };
  /** The factory that asked for it, if that may not use it. */
  readonly forbiddenTo?: string;
  /** The reason why the value could not be read from where it is kept, and what to do. */
  readonly unresolved?: { readonly message: string; readonly hint: string };
  /** The value is kept elsewhere, and was not read from there because the caller may not cause that. */
  readonly isUnread?: true;
}

/** Fails with `secret-invalid`. */
export function requireSecretName(name: string): void {
  const mistake = findSecretNameMistake(name);
  if (mistake) throw new StoreError('secret-invalid', `${mistake.message}; ${mistake.hint}`);
}

/** Fails with `secret-invalid`. */
export function requireSecretReference(reference: string): void {
  if (parseSecretReference(reference)) return;
  throw new StoreError('secret-invalid', `this is not a reference to a secret; use ${secretReferenceRule}`);
}

/** Fails with `secret-invalid`. */
export function requireSecretValue(value: string): void {
  if (value.trim() === '') throw new StoreError('secret-invalid', 'a team secret cannot be empty');
  if (parseSecretReference(value)) {
    const message =
      "the value is a reference to a secret; only `hookmill secrets set --from` and the daemon's configuration file can set one";
    throw new StoreError('secret-invalid', message);
  }
  if (value.startsWith('\ufeff')) {
    const message = 'a team secret cannot start with a byte order mark; save its file as UTF-8 without one';
    throw new StoreError('secret-invalid', message);
  }
  if (Buffer.byteLength(value) > secretBytesMax) {
    throw new StoreError('secret-invalid', `a team secret cannot be longer than ${secretBytesMax} bytes`);
  }
}
