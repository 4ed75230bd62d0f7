import { CommandError } from '../exit-status.ts';
import { readWithGit } from './read-with-git.ts';

/**
 * Lists the files that git tracks or, besides, those that it would add, by their paths relative to the directory; none
 * outside a repository, or without git. Fails if they cannot be listed within git's limits.
 */
export async function listFiles(
  directory: string,
  pathspecs: readonly string[],
  which: 'tracked' | 'also untracked' = 'tracked',
): Promise<readonly string[]> {
  const others = which === 'tracked' ? [] : ['--cached', '--others', '--exclude-standard'];
  const words = ['ls-files', '-z', ...others, '--', ...pathspecs];
  const output = await readWithGit(directory, words).catch(failure => {
    if (failure.code === 'refused' || failure.code === 'git-missing') return '';
    throw new CommandError(`the files in git cannot be listed: ${failure.message}`);
  });
  return output.split('\0').filter(path => path !== '');
}
