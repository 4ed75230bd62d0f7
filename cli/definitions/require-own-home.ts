import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { CommandError } from '../exit-status.ts';
import { findRepositoryRoot } from './repository-root.ts';

/**
 * Fails if the home came with the repository that it is in: whoever committed it knows its key, its secrets and its
 * API tokens. Only for a home that was found, not for one that the user named.
 */
export async function requireOwnHome(home: string): Promise<void> {
  const directory = dirname(home);
  if (!existsSync(home) || !existsSync(`${findRepositoryRoot(directory, {})}/.git`)) return;
  if (!(await isTracked(directory, basename(home)))) return;
  throw new CommandError(
    `${home} came with the repository, so others know its secrets; remove it from git, or name your own with --home`,
  );
}

async function isTracked(directory: string, name: string): Promise<boolean> {
  // The repository's configuration may be hostile too: fsmonitor is a command that git would start.
  const options = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--', name];
  const listed = await promisify(execFile)('git', options, { cwd: directory }).catch(() => undefined);
  return listed !== undefined && listed.stdout !== '';
}
