import { readdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { documentKinds } from '../ports/documents.ts';
import { fileFailure, StoreError } from '../ports/store-error.ts';
import { documentFile, type Home, makePrivateDirectory } from './home.ts';
import { withLock } from './lock.ts';

/**
 * Creates the home unless it exists. Every function that may write the first file of a home calls it. A home gets a
 * `.gitignore`, so that nobody commits its key by accident, unless the directory has other uses too. Fails with
 * `unwritable`.
 */
export async function makeHome(home: Home): Promise<void> {
  await make(home).catch(fileFailure('unwritable', home.directory));
}

/** Runs `work` while holding the lock of a file in the home, see `acquireLock`. */
export async function withHomeLock<T>(
  home: Home,
  file: string,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  await makeHome(home);
  return withLock(file, timeoutMs, work);
}

async function make({ directory, onCreated, ...places }: Home): Promise<void> {
  await makePrivateDirectory(directory);
  const names = [...Object.values(places).map(place => basename(place)), ...documentKinds];
  // Beside a file are its lock, its temporary files and SQLite's files.
  const isOwn = (entry: string) => names.some(name => entry.startsWith(name));
  const entries = await readdir(directory);
  if (!entries.every(isOwn)) return;
  try {
    await writeFile(join(directory, '.gitignore'), ignoreEverything, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    // Another process made it first.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  if (entries.length === 0) onCreated?.();
}

const ignoreEverything = '# A home of hookmill: state, secrets and their key.\n*\n';

/**
 * Fails with `unsafe` if other users could change the home, or read its key, team secrets or API tokens: then whatever
 * it holds may be theirs. As ssh does, it refuses instead of correcting. A home that does not exist yet is safe.
 */
export async function requireSafeHome(home: Home): Promise<void> {
  await requireOwn(home.directory, 0o022, '700');
  const documents = (['secrets', 'tokens', 'sessions'] as const).map(kind => documentFile(home, { kind }));
  for (const file of [home.keyFile, home.oldKeyFile, ...documents]) await requireOwn(file, 0o077, '600');
}

async function requireOwn(path: string, forbidden: number, right: '600' | '700'): Promise<void> {
  const user = process.getuid?.();
  // A file that is missing or cannot be read is reported when it is needed.
  const stats = await stat(path).catch(() => undefined);
  if (user === undefined || !stats || stats.isDirectory() !== (right === '700')) return;
  if (user !== 0 && stats.uid !== 0 && stats.uid !== user) {
    throw new StoreError('unsafe', `${path} belongs to another user; use a home of your own`);
  }
  if ((stats.mode & forbidden) === 0) return;
  const mode = (stats.mode & 0o777).toString(8);
  const access = `other users can access ${path} (mode ${mode})`;
  throw new StoreError('unsafe', `${access}; if you made this home, run: chmod ${right} ${path}`);
}
