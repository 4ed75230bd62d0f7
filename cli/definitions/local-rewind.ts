import type { PlanView } from '../../operations/views/plan-view.ts';
import { shortenRevision } from '../../schema/clients/describe.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { readWithGit } from './read-with-git.ts';

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
  const variables = { GIT_NO_LAZY_FETCH: '1' };
  const read = async (...args: string[]) =>
    (await readWithGit(directory, args, { exitCodes: [1], variables })).trim();
  try {
    if ((await read('symbolic-ref', '--quiet', '--short', 'HEAD')) !== branch) return [];
    if ((await read('rev-parse', '--is-shallow-repository')) !== 'false') return [];
    if ((await read('merge-base', revision, 'HEAD')) === revision) return [];
  } catch {
    return [];
  }
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
