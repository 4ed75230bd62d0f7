import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Finds the root of the repository that a directory is in; outside a repository, the directory itself. */
export function findRepositoryRoot(directory: string, env: NodeJS.ProcessEnv): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) break;
  }
  // A CI may have fetched the files without the .git directory.
  const checkout = env.GITHUB_WORKSPACE ?? env.CI_PROJECT_DIR;
  return checkout !== undefined && isInside(directory, checkout) ? resolve(checkout) : directory;
}

function isInside(directory: string, parent: string): boolean {
  const path = relative(parent, directory);
  return path !== '..' && !path.startsWith(`..${sep}`);
}
