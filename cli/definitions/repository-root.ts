import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** The root of the repository that a directory lies in; the directory itself where there is none. */
export function repositoryRoot(directory: string, env: NodeJS.ProcessEnv): string {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) break;
  }
  // A CI may have fetched the files without git's own.
  const checkout = env.GITHUB_WORKSPACE ?? env.CI_PROJECT_DIR;
  return checkout !== undefined && isInside(directory, checkout) ? resolve(checkout) : directory;
}

function isInside(directory: string, parent: string): boolean {
  const path = relative(parent, directory);
  return path !== '..' && !path.startsWith(`..${sep}`);
}
