import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { EntryKind } from './definitions.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants;

/**
 * A folder that is open. The paths below `at` lead through its handle, so no link that appears on the way is followed.
 * Where there is no /proc, `at` is the folder's path, and only links that are there when it is opened are refused.
 */
export interface OpenFolder {
  readonly at: string;
}

/** Opens a folder, which may be behind links, while `use` works with it. Fails with the file system's error. */
export function useFolder<T>(path: string, use: (folder: OpenFolder) => T): T {
  return useOpened(path, 0, use);
}

/** Opens a folder by its name in another one. Fails with ENOTDIR, or on some systems ELOOP, for anything else there. */
export function useFolderBelow<T>(folder: OpenFolder, name: string, use: (folder: OpenFolder) => T): T {
  return useOpened(join(folder.at, name), O_NOFOLLOW, use);
}

function useOpened<T>(path: string, flags: number, use: (folder: OpenFolder) => T): T {
  const descriptor = openSync(path, O_RDONLY | O_DIRECTORY | flags);
  try {
    const handle = `/proc/self/fd/${descriptor}`;
    return use({ at: existsSync(handle) ? handle : path });
  } finally {
    closeSync(descriptor);
  }
}

/** Lists the names in a folder with their kinds. */
export function listFolder(folder: OpenFolder): { readonly name: string; readonly kind: EntryKind }[] {
  return readdirSync(folder.at, { withFileTypes: true }).map(entry => {
    const { name } = entry;
    if (entry.isFile()) return { name, kind: 'file' };
    if (entry.isSymbolicLink()) return { name, kind: 'link' };
    if (!entry.isDirectory()) return { name, kind: 'other' };
    return { name, kind: isSubmodule(folder, name) ? 'submodule' : 'folder' };
  });
}

/** Whether a folder is a repository of its own. */
export function isSubmodule({ at }: OpenFolder, name: string): boolean {
  return existsSync(join(at, name, '.git'));
}

/** Finds the root of the git work tree that a directory is in; undefined outside of one. */
export function findGitRoot(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

/**
 * Creates a file below a directory, and the folders on the way. Returns whether it did: a file that exists is kept. Fails
 * with ENOTDIR or ELOOP if a folder on the way is a link, so that nothing is written elsewhere.
 */
export function createBelow(directory: string, path: string, content: string): boolean {
  mkdirSync(directory, { recursive: true });
  return useParent(directory, path, true, file => {
    try {
      // Does not follow a link either.
      writeFileSync(file, content, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Reads a text file below a directory. Fails with the file system's error, also for a link, or one on the way. */
export function readBelow(directory: string, path: string): string {
  const flag = O_RDONLY | O_NOFOLLOW;
  return useParent(directory, path, false, file =>
    readFileSync(file, { encoding: 'utf8', flag: flag as never }),
  );
}

/** Replaces the content of a file below a directory. Fails as `readBelow` does. */
export function overwriteBelow(directory: string, path: string, content: string): void {
  const flag = O_WRONLY | O_TRUNC | O_NOFOLLOW;
  useParent(directory, path, false, file => writeFileSync(file, content, { flag: flag as never }));
}

/** Removes a file below a directory, if it exists. Fails as `readBelow` does. */
export function removeBelow(directory: string, path: string): void {
  useParent(directory, path, false, file => rmSync(file, { force: true }));
}

/** Says why a file below a directory could not be used. */
export function describeFileError(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOTDIR' || code === 'ELOOP' ? 'a link or a file is in the way' : `${code}`;
}

/** Opens the folders on the way to a file, or creates them, and passes the path that leads through the last one. */
function useParent<T>(directory: string, path: string, isCreated: boolean, use: (file: string) => T): T {
  const names = path.split('/');
  const last = names.pop() ?? '';
  const enter = (folder: OpenFolder): T => {
    const name = names.shift();
    if (name === undefined) return use(join(folder.at, last));
    if (isCreated) makeFolder(join(folder.at, name));
    return useFolderBelow(folder, name, enter);
  };
  return useFolder(directory, enter);
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
