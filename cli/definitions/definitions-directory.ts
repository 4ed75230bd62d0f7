import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CommandError, exitStatus } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';

/** The definitions directory, absolute. One that is not there is wrong usage: it is not one without definitions. */
export function definitionsDirectory({ directory }: Pick<GlobalOptions, 'directory'>): string {
  const absolute = absolutePath(directory);
  if (statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) return absolute;
  throw new CommandError(`${directory} is not a directory`, exitStatus.usage);
}

function absolutePath(path: string): string {
  try {
    return resolve(path);
  } catch {
    // Only process.cwd() can fail here.
    throw new CommandError('the current directory is gone', exitStatus.usage);
  }
}
