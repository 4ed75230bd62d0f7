import type { GitCommand } from '../../sources/repository/git/git-command.ts';

/**
 * Runs a git command that only reads the repository around a directory, and returns its output. It takes no lock, and
 * starts no hook and no pager. Fails with a `GitFailure`.
 */
export async function readWithGit(
  directory: string,
  args: readonly string[],
  { exitCodes = [], variables = {} }: ReadOptions = {},
): Promise<string> {
  const { runGit } = await import('../../sources/repository/git/git-command.ts');
  const { makeReadingEnvironment } = await import('../../sources/repository/git/git-environment.ts');
  const environment = { ...makeReadingEnvironment(process.env), ...variables };
  return runGit({ directory, environment, exitCodes }, git => git.raw([...args]));
}

interface ReadOptions extends Pick<GitCommand, 'exitCodes'> {
  /** More variables for git. */
  readonly variables?: Readonly<Record<string, string>>;
}
