import type { KeyObject } from 'node:crypto';

/** The owner of a sealed value. The seal is bound to the owner, so a value copied elsewhere does not open. */
export interface SealedFor {
  readonly use: 'team-secret' | 'secret-reference' | 'credential' | 'backup';
  readonly name: string;
  readonly factory?: string;
}

/** Seals values with the key, and opens them with the key or the old key. */
export interface Seal {
  seal(value: string, owner: SealedFor): Promise<string>;
  /** Fails with `key` if another key sealed the value, if it belongs to another owner, or if it was altered. */
  open(sealed: string, owner: SealedFor): Promise<string>;
  /** Reads the keys once, to open many values soon. Never fails. */
  opener(): Promise<Opener>;
  /** Seals a value again, unless the key has sealed it. Fails as `open` does. */
  reseal(sealed: string, owner: SealedFor): Promise<string>;
  /**
   * Derives keys for another use (HKDF, RFC 5869), from the key and from the old key. They stay the same as long as
   * the key does, and are never stored.
   */
  deriveKeys(use: string): Promise<readonly [current: KeyObject, ...old: KeyObject[]]>;
}

/** Opens a sealed value. Fails as `Seal.open` does. */
export type Opener = (sealed: string, owner: SealedFor) => string;

/** The owner of the sealed credential of a signature webhook. */
export function credentialOwner(factory: string, uid: string): SealedFor {
  return { use: 'credential', name: uid, factory };
}
