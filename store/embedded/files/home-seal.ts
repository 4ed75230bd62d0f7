import { type KeyObject, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createFile, replaceFile, sweepTemporaries, syncDirectory } from '../../home/durable-file.ts';
import type { Home } from '../../home/home.ts';
import { makeHome, withHomeLock } from '../../home/make-home.ts';
import { readText } from '../../home/regular-file.ts';
import type { Seal } from '../../ports/seal.ts';
import { fileFailure, StoreError } from '../../ports/store-error.ts';
import { keyBytes, openSeal, parseKey, readGivenKeys, requireOldKey } from '../../sealing.ts';

/**
 * Seals values with `HOOKMILL_KEY` (base64) if it is set, otherwise with the home's `key` file, which is created for
 * the first value. While the key is being changed, the home's `old-key` file opens values too.
 */
export function openHomeSeal(home: Home, environment: NodeJS.ProcessEnv): Seal {
  // Values that are opened at the same time share one read of the keys.
  let reading: Promise<KeyObject[]> | undefined;
  const readShared = () => {
    reading ??= readKeys(home).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const findWith = async (read: () => Promise<KeyObject[]>) => {
    const given = readGivenKeys(environment);
    return given.length > 0 ? given : read();
  };
  return openSeal({
    find: () => findWith(readShared),
    // Sealing reads the key itself: a read that has begun before the document was locked may return the old key.
    require: async () => (await findWith(() => readKeys(home)))[0] ?? makeKey(home),
  });
}

export interface HomeKeys {
  readonly home: Home;
  readonly environment: NodeJS.ProcessEnv;
  readonly lockTimeoutMs: number;
}

/**
 * Calls `reseal` to seal everything again. Without `HOOKMILL_KEY`, the home gets a new key first, and the old one is kept
 * beside it until that is done: if this is stopped anywhere, values open, and calling it again goes on. Fails with `key`
 * if there is no old key.
 */
export async function rotateHomeKey<T>(
  { home, environment, lockTimeoutMs }: HomeKeys,
  reseal: () => Promise<T>,
): Promise<T> {
  if (readGivenKeys(environment).length > 0) {
    requireOldKey(environment);
    return reseal();
  }
  const { keyFile, oldKeyFile } = home;
  return withHomeLock(home, keyFile, lockTimeoutMs, async () => {
    const [current, old] = [await readText(keyFile), await readText(oldKeyFile)];
    if (current === undefined) throw new StoreError('key', `there is no key in ${keyFile} to replace`);
    const failed = fileFailure('unwritable', keyFile);
    for (const file of [keyFile, oldKeyFile]) await sweepTemporaries(file).catch(failed);
    if (old === undefined) await replaceFile(oldKeyFile, current).catch(failed);
    if (old === undefined || old === current) await replaceFile(keyFile, makeKeyText()).catch(failed);
    const result = await reseal();
    await rm(oldKeyFile).catch(failed);
    await syncDirectory(home.directory).catch(failed);
    return result;
  });
}

async function makeKey(home: Home): Promise<KeyObject> {
  await makeHome(home);
  await createFile(home.keyFile, makeKeyText()).catch((error: NodeJS.ErrnoException) => {
    // Another process created the file first: its key is used.
    if (error.code !== 'EEXIST') fileFailure('unwritable', home.keyFile)(error);
  });
  const [key] = await readKeys(home);
  if (!key) throw new StoreError('key', `${home.keyFile} disappeared while it was created; try again`);
  return key;
}

function makeKeyText(): string {
  return `${randomBytes(keyBytes).toString('base64')}\n`;
}

/** The key and the old key, which is there before the key is replaced. */
async function readKeys({ keyFile, oldKeyFile }: Home): Promise<KeyObject[]> {
  const key = await readText(keyFile);
  if (key === undefined) return [];
  const old = await readText(oldKeyFile);
  const current = parseKey(key.trim(), keyFile);
  return old === undefined ? [current] : [current, parseKey(old.trim(), oldKeyFile)];
}
