import { createDecipheriv, createSecretKey, hkdf, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import { parseJsonText } from '../json/parse-json-text.ts';
import type { Seal, SealedFor } from './ports/seal.ts';
import { StoreError } from './ports/store-error.ts';

/** @limit Length of the key that seals values, in bytes: A256GCM takes 256 bits. */
export const keyBytes = 32;

/** A source of the key. */
export interface KeySource {
  /** The key, if there is one, then the old key, if there is one. Fails with `key` if one is malformed. */
  readonly find: () => Promise<readonly KeyObject[]>;
  /** The key; it is created if the source can do that. Fails with `key` otherwise. */
  readonly require: () => Promise<KeyObject>;
}

/** Seals values as JWE (RFC 7516), by direct encryption with A256GCM. */
export function openSeal(key: KeySource): Seal {
  const seal = async (value: string, owner: SealedFor) =>
    new CompactEncrypt(Buffer.from(value))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...ownerHeader(owner) })
      .encrypt(await key.require());
  return {
    seal,
    open: async (jwe, owner) => openJwe(jwe, await key.find(), owner).value,
    opener: async () => {
      const [found] = await Promise.allSettled([key.find()]);
      return (jwe, owner) => {
        if (found.status === 'rejected') throw found.reason;
        return openJwe(jwe, found.value, owner).value;
      };
    },
    reseal: async (jwe, owner) => {
      const { value, isCurrent } = openJwe(jwe, await key.find(), owner);
      return isCurrent ? jwe : seal(value, owner);
    },
    deriveKeys: async use => {
      const current = await key.require();
      const old = (await key.find()).filter(found => !found.equals(current));
      return [await derive(current, use), ...(await Promise.all(old.map(found => derive(found, use))))];
    },
  };
}

async function derive(key: KeyObject, use: string): Promise<KeyObject> {
  const derived = await promisify(hkdf)('sha256', key, '', `hookmill ${use}`, keyBytes);
  return createSecretKey(Buffer.from(derived));
}

/** Parses a key in base64. Fails with `key`; `origin` names where the text comes from. */
export function parseKey(text: string, origin: string): KeyObject {
  const key = Buffer.from(text, 'base64');
  if (key.length === keyBytes && key.toString('base64') === text) return createSecretKey(key);
  throw new StoreError(
    'key',
    `${origin} must be ${keyBytes} bytes in base64, e.g. from: openssl rand -base64 ${keyBytes}`,
  );
}

/** The keys in `HOOKMILL_KEY` and `HOOKMILL_OLD_KEY`; none unless the first is set. Fails with `key`. */
export function readGivenKeys(environment: NodeJS.ProcessEnv): KeyObject[] {
  const [key, old] = [environment.HOOKMILL_KEY?.trim(), environment.HOOKMILL_OLD_KEY?.trim()];
  if (!key) return [];
  return [parseKey(key, 'HOOKMILL_KEY'), ...(old ? [parseKey(old, 'HOOKMILL_OLD_KEY')] : [])];
}

/** Fails with `key` if `HOOKMILL_OLD_KEY` is not set: then `HOOKMILL_KEY` is no new key. */
export function requireOldKey({ HOOKMILL_OLD_KEY }: NodeJS.ProcessEnv): void {
  if (HOOKMILL_OLD_KEY) return;
  const message =
    'set HOOKMILL_KEY to a new key, and HOOKMILL_OLD_KEY to the one before; restart the daemons with both first';
  throw new StoreError('key', message);
}

interface OpenedJwe {
  readonly value: string;
  readonly protectedHeader: Readonly<Record<string, unknown>>;
}

/** Opens a JWE with the first key that fits, and says whether that is the current one, which comes first. */
function openJwe(
  jwe: string,
  keys: readonly KeyObject[],
  owner: SealedFor,
): { readonly value: string; readonly isCurrent: boolean } {
  let cause: unknown = new Error('there is no key');
  for (const key of keys) {
    let opened: OpenedJwe;
    try {
      opened = decrypt(jwe, key);
    } catch (error) {
      cause = error;
      continue;
    }
    return { value: requireOwner(opened, owner), isCurrent: key === keys[0] };
  }
  const message = `the sealed value of ${owner.name} does not open with this key; restore the key that sealed it (the home's key file or HOOKMILL_KEY), or set the secret again`;
  throw new StoreError('key', message, { cause });
}

function requireOwner({ value, protectedHeader }: OpenedJwe, owner: SealedFor): string {
  const expected = Object.entries(ownerHeader(owner));
  if (expected.every(([field, value]) => protectedHeader[field] === value)) return value;
  const message = `the sealed value of ${owner.name} was sealed for another owner; set the secret again`;
  throw new StoreError('key', message);
}

/**
 * Decrypts a JWE in its compact form, made by `seal` (RFC 7516 section 5.2, RFC 7518 section 5.3). Not by jose, which
 * takes three times as long: a daemon opens every credential when it starts.
 */
function decrypt(jwe: string, key: KeyObject): OpenedJwe {
  const [header = '', encryptedKey, iv = '', ciphertext = '', tag = '', ...others] = jwe.split('.');
  const protectedHeader = parseJsonText(
    Buffer.from(header, 'base64url').toString(),
  ) as OpenedJwe['protectedHeader'];
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
