import type { KeyObject } from 'node:crypto';

/** The owner of a sealed value. The seal is bound to the owner, so a value copied elsewhere does not open. */
export interface SealedFor {
  readonly use: 'team-secret' | 'credential' | 'backup';
  readonly name: string;
  readonly factory?: string;
}

/** Seals and opens values with one key. */
export interface Seal {
  seal(value: string, owner: SealedFor): Promise<string>;
  /** Fails with `key` if another key sealed the value, if it belongs to another owner, or if it was altered. */
  open(sealed: string, owner: SealedFor): Promise<string>;
  /** Derives a key for another use (HKDF, RFC 5869). It is the same as long as the seal's key is, and is never stored. */
  deriveKey(use: string): Promise<KeyObject>;
}

/** The owner of the sealed credential of a signature webhook. */
export function credentialOwner(factory: string, uid: string): SealedFor {
  return { use: 'credential', name: uid, factory };
}
