import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** Returns the absolute path of the definitions directory. It is wrong usage if the directory does not exist. */
export function findDefinitionsDirectory({ directory }: Pick<GlobalOptions, 'directory'>): string {
  const absolute = resolvePath(directory);
  if (statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) return absolute;
  throw new UsageError(`${directory} is not a directory`);
}

function resolvePath(path: string): string {
  try {
    return resolve(path);
  } catch (cause) {
    // Only process.cwd() can fail here.
    throw new UsageError('the current directory no longer exists', { cause });
  }
}
