import { CommandError } from '../exit-status.ts';
import { readWithGit } from './read-with-git.ts';

/**
 * Lists the files that git tracks, by their paths relative to the directory; none outside a repository, or without git.
 * Fails if they cannot be listed within git's limits.
 */
export async function listTrackedFiles(
  directory: string,
  pathspecs: readonly string[],
): Promise<readonly string[]> {
  const output = await readWithGit(directory, ['ls-files', '-z', '--', ...pathspecs]).catch(failure => {
    if (failure.code === 'refused' || failure.code === 'git-missing') return '';
    throw new CommandError(`the files in git cannot be listed: ${failure.message}`);
  });
  return output.split('\0').filter(path => path !== '');
}
