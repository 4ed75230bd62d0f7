import { statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { findGitRoot } from '../sources/open-folder.ts';
import { UsageError } from './exit-status.ts';
import type { GlobalOptions } from './global-options.ts';

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

/** Finds the root of the repository that a directory is in; outside a repository, the directory itself. */
export function findRepositoryRoot(directory: string, env: NodeJS.ProcessEnv): string {
  const root = findGitRoot(directory);
  if (root !== undefined) return root;
  // A CI may have fetched the files without the .git directory.
  const checkout = env.GITHUB_WORKSPACE ?? env.CI_PROJECT_DIR;
  return checkout !== undefined && isInside(directory, checkout) ? resolve(checkout) : directory;
}

/** The path of a directory in its repository, with `/` separators; `.` is the root. */
export function locateInRepository(directory: string, env: NodeJS.ProcessEnv): string {
  return relative(findRepositoryRoot(directory, env), directory).split(sep).join('/') || '.';
}

function isInside(directory: string, parent: string): boolean {
  const path = relative(parent, directory);
  return path !== '..' && !path.startsWith(`..${sep}`);
}
