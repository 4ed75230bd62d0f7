import { compactDecrypt } from 'jose/jwe/compact/decrypt';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import type { Seal, SealedFor } from './seal.ts';
import { StoreError } from './store-error.ts';

/** @limit Length of the key that seals values, in bytes: A256GCM takes 256 bits. */
export const keyBytes = 32;

/** Where the key comes from. */
export interface KeySource {
  /** The key, if there is one. Fails with `key` if it is malformed. */
  readonly find: () => Promise<Uint8Array | undefined>;
  /** The key; it is created if the source can do that. Fails with `key` otherwise. */
  readonly require: () => Promise<Uint8Array>;
}

/** Seals values as JWE (RFC 7516), by direct encryption with A256GCM. */
export function openSeal(key: KeySource): Seal {
  return {
    seal: async (value, owner) =>
      new CompactEncrypt(Buffer.from(value))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...ownerHeader(owner) })
        .encrypt(await key.require()),
    open: async (jwe, owner) => {
      const { plaintext, protectedHeader } = await decrypt(jwe, await key.find(), owner);
      const expected = ownerHeader(owner);
      const same = Object.entries(expected).every(([field, value]) => protectedHeader[field] === value);
      if (!same)
        throw new StoreError(
          'key',
          `the sealed value of ${owner.name} was sealed for another owner; set the secret again`,
        );
      return Buffer.from(plaintext).toString();
    },
  };
}

/** Parses a key in base64. Fails with `key`; `origin` names where the text comes from. */
export function parseKey(text: string, origin: string): Uint8Array {
  const key = Buffer.from(text, 'base64');
  if (key.length === keyBytes && key.toString('base64') === text) return key;
  throw new StoreError(
    'key',
    `${origin} must be ${keyBytes} bytes in base64, e.g. from: openssl rand -base64 ${keyBytes}`,
  );
}

async function decrypt(jwe: string, key: Uint8Array | undefined, owner: SealedFor) {
  try {
    if (!key) throw new Error('there is no key');
    return await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
    });
  } catch (cause) {
    const message = `the sealed value of ${owner.name} does not open with this key; restore the key that sealed it (the home's key file or HOOKMILL_KEY), or set the secret again`;
    throw new StoreError('key', message, { cause });
  }
}

function ownerHeader({ use, name, factory }: SealedFor): Record<string, string> {
  return { use, name, factory: factory ?? '' };
}
