import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileFailure } from '../../store-error.ts';
import { type Home, makePrivateDirectory } from './home.ts';
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

async function make({ directory, ...places }: Home): Promise<void> {
  await makePrivateDirectory(directory);
  const names = Object.values(places).map(place => basename(place));
  // Beside a file are its lock, its temporary files and SQLite's files.
  const isOwn = (entry: string) => names.some(name => entry.startsWith(name));
  if (!(await readdir(directory)).every(isOwn)) return;
  const options = { flag: 'wx', mode: 0o600 };
  await writeFile(join(directory, '.gitignore'), ignoreEverything, options).catch(
    (error: NodeJS.ErrnoException) => {
      // Another process made it first.
      if (error.code !== 'EEXIST') throw error;
    },
  );
}

const ignoreEverything = '# A home of hookmill: state, secrets and their key.\n*\n';
