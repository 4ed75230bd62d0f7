import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ExecaError, execa } from 'execa';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { gitCommandMs, gitOutputBytesMax } from '../../sources/repository/git/git-command.ts';
import { CommandError, exitStatus } from '../exit-status.ts';

/**
 * The files of the work tree that differ from where it left the revision, as absolute paths: what a pull request
 * against that revision touches, with what is not committed yet. Fails with wrong usage where git knows no such
 * revision.
 */
export async function changedFiles(directory: string, revision: string): Promise<ReadonlySet<string>> {
  const root = (await git(directory, ['rev-parse', '--show-toplevel'])).replace(/\n$/, '');
  const base = await baseOf(root, revision);
  const lists = await Promise.all([
    git(root, ['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', base, '--']),
    git(root, ['ls-files', '--others', '--exclude-standard', '-z']),
  ]);
  const names = lists.flatMap(list => list.split('\0')).filter(name => name !== '');
  // Git follows the links in its own path, and the definitions directory may have been reached by others.
  const fromDirectory = relative(realpathSync(directory), root);
  return new Set(names.map(name => join(directory, fromDirectory, name)));
}

/** Whether the mistake hangs on a file that changed. `pathOf` makes the names in diagnostics absolute. */
export function isTouched(
  { code, file }: Diagnostic,
  changed: ReadonlySet<string>,
  pathOf: (file: string) => string,
): boolean {
  if (changed.has(pathOf(file))) return true;
  // A change of the automation fails its fixtures, which stay as they were.
  if (code === 'fixture/failed') return changed.has(pathOf(file.replace(/\.fixtures\/[^/]*$/, '.yaml')));
  // It is reported at one of the webhooks, and any one may have been the one too many.
  const folder = pathOf(file.replace(/[^/]*$/, ''));
  return code === 'webhook/too-many' && [...changed].some(path => path.startsWith(folder));
}

/** The commit that both have in common, so that what others did since is not taken for a change of ours. */
async function baseOf(root: string, revision: string): Promise<string> {
  const commit = await commitOf(root, revision);
  const common = await git(root, ['merge-base', commit, 'HEAD'], [1]);
  // A shallow clone may have both and nothing between them.
  return common.trim() || commit;
}

async function commitOf(root: string, revision: string): Promise<string> {
  const unknown = `git knows no revision "${revision}" here; a shallow clone has only the newest: fetch it first`;
  // A revision's name cannot begin with -, and git is not to take it for an option.
  if (revision.startsWith('-')) throw new CommandError(unknown, exitStatus.usage);
  const found = await git(
    root,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    [1, 128],
  );
  const commit = found.trim();
  if (!/^[0-9a-f]{40,64}$/.test(commit)) throw new CommandError(unknown, exitStatus.usage);
  return commit;
}

/** What git prints. It reads alone: no lock is taken, no hook and no pager started. */
async function git(
  directory: string,
  args: readonly string[],
  exitCodesExpected: readonly number[] = [],
): Promise<string> {
  try {
    const { stdout } = await execa('git', ['-c', 'core.fsmonitor=false', ...args], {
      cwd: directory,
      env: { GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
      stdin: 'ignore',
      stripFinalNewline: false,
      timeout: gitCommandMs,
      maxBuffer: gitOutputBytesMax,
    });
    return stdout;
  } catch (error) {
    const { exitCode, code, stderr, shortMessage } = error as ExecaError<{ encoding: 'utf8' }>;
    if (exitCode !== undefined && exitCodesExpected.includes(exitCode)) return '';
    const reason = code === 'ENOENT' ? 'git cannot be run: is it installed?' : stderr || shortMessage;
    throw new CommandError(`--changed-since: ${reason.trim()}`, exitStatus.usage);
  }
}
