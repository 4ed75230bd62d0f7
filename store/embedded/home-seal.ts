import { randomBytes } from 'node:crypto';
import { compactDecrypt } from 'jose/jwe/compact/decrypt';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import { createFile } from '../durable-file.ts';
import type { Seal, SealedFor } from '../seal.ts';
import { fileFailure, StoreError } from '../store-error.ts';
import type { Home } from './files/home.ts';
import { makeHome } from './files/make-home.ts';
import { readText } from './files/read-text.ts';

/** @limit Length of the key that seals values, in bytes: A256GCM takes 256 bits. */
const keyBytes = 32;

/**
 * Seals values as JWE (RFC 7516), by direct encryption with A256GCM. The key is `HOOKMILL_KEY` (base64) if it is set,
 * otherwise the home's `key` file, which is created for the first value.
 */
export function openHomeSeal(home: Home, environment: NodeJS.ProcessEnv): Seal {
  const given = environment.HOOKMILL_KEY?.trim();
  const existingKey = async () => (given ? parseKey(given, 'HOOKMILL_KEY') : readKey(home));
  return {
    seal: async (value, owner) =>
      new CompactEncrypt(Buffer.from(value))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ...ownerHeader(owner) })
        .encrypt((await existingKey()) ?? (await makeKey(home))),
    open: async (jwe, owner) => {
      const { plaintext, protectedHeader } = await decrypt(jwe, await existingKey(), owner);
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

async function makeKey(home: Home): Promise<Uint8Array> {
  await makeHome(home);
  const text = `${randomBytes(keyBytes).toString('base64')}\n`;
  await createFile(home.keyFile, text).catch((error: NodeJS.ErrnoException) => {
    // Another process created the file first: its key is used.
    if (error.code !== 'EEXIST') fileFailure('unwritable', home.keyFile)(error);
  });
  const key = await readKey(home);
  if (!key) throw new StoreError('key', `${home.keyFile} disappeared while it was created; try again`);
  return key;
}

async function readKey(home: Home): Promise<Uint8Array | undefined> {
  const text = await readText(home.keyFile);
  return text === undefined ? undefined : parseKey(text.trim(), home.keyFile);
}

function parseKey(text: string, origin: string): Uint8Array {
  const key = Buffer.from(text, 'base64');
  if (key.length === keyBytes && key.toString('base64') === text) return key;
  throw new StoreError(
    'key',
    `${origin} must be ${keyBytes} bytes in base64, e.g. from: openssl rand -base64 ${keyBytes}`,
  );
}
