import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** Finds the definitions directory, absolute. A missing directory is wrong usage, not one without definitions. */
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
