import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { PlanView } from '../../operations/views/plan-view.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { gitCommandMs } from '../../sources/repository/git/git-command.ts';

/**
 * Reports that a push of the work tree would rewrite the branch that the factory follows: this very branch is checked
 * out, and its commit does not descend from the applied one. Nothing is known of another branch, because a merge of it
 * always descends; nor of a shallow clone, or outside of a repository.
 */
export async function findLocalRewind(
  directory: string,
  { base, factory }: Pick<PlanView, 'base' | 'factory'>,
): Promise<Diagnostic[]> {
  if (!base) return [];
  const { revision, branch } = base;
  const git = async (...args: string[]) => {
    // The repository's configuration may be hostile: fsmonitor is a command that git would start.
    const words = ['-c', 'core.fsmonitor=false', ...args];
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1' };
    return promisify(execFile)('git', words, { cwd: directory, env, timeout: gitCommandMs }).then(
      ({ stdout }) => ({ exitCode: 0, stdout: stdout.trim() }),
      ({ code }: { readonly code: unknown }) => ({ exitCode: code, stdout: '' }),
    );
  };
  if ((await git('symbolic-ref', '--quiet', '--short', 'HEAD')).stdout !== branch) return [];
  if ((await git('rev-parse', '--is-shallow-repository')).stdout !== 'false') return [];
  if ((await git('cat-file', '-e', `${revision}^{commit}`)).exitCode !== 0) return [];
  if ((await git('merge-base', '--is-ancestor', revision, 'HEAD')).exitCode !== 1) return [];
  return [
    {
      code: 'factory/rewound',
      severity: 'error',
      message: `a push of this work tree is refused: its commit does not descend from the applied revision ${shortenRevision(revision)}`,
      file: `factory ${factory}`,
      hint: `pull ${branch} first; or, to rewrite its history, push it and run \`hookmill reconcile --once --allow-rewind\``,
    },
  ];
}
