/** The owner of a sealed value. It is bound into the seal: a value moved elsewhere does not open. */
export interface SealedFor {
  readonly use: 'team-secret' | 'credential';
  readonly name: string;
  readonly factory?: string;
}

/** Seals and opens values with one key. */
export interface Seal {
  seal(value: string, owner: SealedFor): Promise<string>;
  /** Fails with code `key` if the key is another one, or if the value belongs to another owner or was altered. */
  open(jwe: string, owner: SealedFor): Promise<string>;
}

/** The owner of the sealed credential of a signature webhook. */
export function credentialOwner(factory: string, uid: string): SealedFor {
  return { use: 'credential', name: uid, factory };
}
