import { createDecipheriv, createSecretKey, hkdf, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import type { Seal, SealedFor } from './seal.ts';
import { StoreError } from './store-error.ts';

/** @limit Length of the key that seals values, in bytes: A256GCM takes 256 bits. */
export const keyBytes = 32;

/** Where the key comes from. */
export interface KeySource {
  /** The key, if there is one. Fails with `key` if it is malformed. */
  readonly find: () => Promise<KeyObject | undefined>;
  /** The key; it is created if the source can do that. Fails with `key` otherwise. */
  readonly require: () => Promise<KeyObject>;
}

/** Seals values as JWE (RFC 7516), by direct encryption with A256GCM. */
export function openSeal(key: KeySource): Seal {
  return {
    seal: async (value, owner) =>
      new CompactEncrypt(Buffer.from(value))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...ownerHeader(owner) })
        .encrypt(await key.require()),
    open: async (jwe, owner) => {
      const { value, protectedHeader } = openJwe(jwe, await key.find(), owner);
      const expected = ownerHeader(owner);
      const same = Object.entries(expected).every(([field, value]) => protectedHeader[field] === value);
      if (!same)
        throw new StoreError(
          'key',
          `the sealed value of ${owner.name} was sealed for another owner; set the secret again`,
        );
      return value;
    },
    deriveKey: async use => {
      const derived = await derive('sha256', await key.require(), '', `hookmill ${use}`, keyBytes);
      return createSecretKey(Buffer.from(derived));
    },
  };
}

const derive = promisify(hkdf);

/** Parses a key in base64. Fails with `key`; `origin` names where the text comes from. */
export function parseKey(text: string, origin: string): KeyObject {
  const key = Buffer.from(text, 'base64');
  if (key.length === keyBytes && key.toString('base64') === text) return createSecretKey(key);
  throw new StoreError(
    'key',
    `${origin} must be ${keyBytes} bytes in base64, e.g. from: openssl rand -base64 ${keyBytes}`,
  );
}

interface OpenedJwe {
  readonly value: string;
  readonly protectedHeader: Readonly<Record<string, unknown>>;
}

function openJwe(jwe: string, key: KeyObject | undefined, owner: SealedFor): OpenedJwe {
  try {
    if (!key) throw new Error('there is no key');
    return decrypt(jwe, key);
  } catch (cause) {
    const message = `the sealed value of ${owner.name} does not open with this key; restore the key that sealed it (the home's key file or HOOKMILL_KEY), or set the secret again`;
    throw new StoreError('key', message, { cause });
  }
}

/**
 * Decrypts a JWE in its compact form, made by `seal` (RFC 7516 section 5.2, RFC 7518 section 5.3). Not by jose, which
 * takes three times as long: a daemon opens every credential when it starts.
 */
function decrypt(jwe: string, key: KeyObject): OpenedJwe {
  const [header = '', encryptedKey, iv = '', ciphertext = '', tag = '', ...others] = jwe.split('.');
  const protectedHeader = JSON.parse(Buffer.from(header, 'base64url').toString());
  const { alg, enc, zip, crit } = protectedHeader;
  const isOurs = alg === 'dir' && enc === 'A256GCM' && zip === undefined && crit === undefined;
  if (!isOurs || encryptedKey !== '' || others.length > 0) throw new Error('this is not a JWE of hookmill');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'), { authTagLength: 16 })
    .setAAD(Buffer.from(header))
    .setAuthTag(Buffer.from(tag, 'base64url'));
  const value = Buffer.concat([decipher.update(ciphertext, 'base64url'), decipher.final()]).toString();
  return { value, protectedHeader };
}

function ownerHeader({ use, name, factory }: SealedFor): Record<string, string> {
  return { use, name, factory: factory ?? '' };
}
