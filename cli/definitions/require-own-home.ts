import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { CommandError } from '../exit-status.ts';
import { findRepositoryRoot } from './repository-root.ts';

/**
 * Fails if the home came with the repository that it is in: whoever committed it knows its key, its secrets and its
 * API tokens. Only for a home that was found, not for one that the user named.
 */
export async function requireOwnHome(home: string): Promise<void> {
  const directory = dirname(home);
  if (!existsSync(home) || !existsSync(`${findRepositoryRoot(directory, {})}/.git`)) return;
  const { listTrackedFiles } = await import('./tracked-files.ts');
  if ((await listTrackedFiles(directory, [basename(home)])).length === 0) return;
  throw new CommandError(
    `${home} came with the repository, so others know its secrets; remove it from git, or name your own with --home`,
  );
}
