import { type KeyObject, randomBytes } from 'node:crypto';
import { createFile } from '../durable-file.ts';
import type { Seal } from '../seal.ts';
import { keyBytes, openSeal, parseKey } from '../sealing.ts';
import { fileFailure, StoreError } from '../store-error.ts';
import type { Home } from './files/home.ts';
import { makeHome } from './files/make-home.ts';
import { readText } from './files/read-text.ts';

/**
 * Seals values with `HOOKMILL_KEY` (base64) if it is set, otherwise with the home's `key` file, which is created for
 * the first value.
 */
export function openHomeSeal(home: Home, environment: NodeJS.ProcessEnv): Seal {
  const given = environment.HOOKMILL_KEY?.trim();
  // Who asks while the key is being read gets the same key.
  let reading: Promise<KeyObject | undefined> | undefined;
  const read = () => {
    reading ??= readKey(home).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const find = async () => (given ? parseKey(given, 'HOOKMILL_KEY') : read());
  return openSeal({ find, require: async () => (await find()) ?? makeKey(home) });
}

async function makeKey(home: Home): Promise<KeyObject> {
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

async function readKey(home: Home): Promise<KeyObject | undefined> {
  const text = await readText(home.keyFile);
  return text === undefined ? undefined : parseKey(text.trim(), home.keyFile);
}
