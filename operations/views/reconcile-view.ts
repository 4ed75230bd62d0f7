import type { z } from 'zod';
import type { reconcileAnswer, sourceAnswer } from '../../schema/views/factories.ts';
import type { ReconcileStatus } from '../../store/ports/reconcile-statuses.ts';

export type ReconcileView = z.output<typeof reconcileAnswer>;

/** Describes the last reconciles of a factory; null if it follows no branch. */
export function reconcileView(status: ReconcileStatus): ReconcileView | null {
  const { followed, suspendedAt, tip, commitsBehind, lastSuccess, lastFailure } = status;
  if (!followed) return null;
  const { repository, branch, path } = followed;
  const { failingSince, askedAt, recent } = status;
  return {
    followed: { repository, branch, path },
    ...{ suspendedAt, tip, commitsBehind, lastSuccess, lastFailure, failingSince, askedAt, recent },
  };
}

export type Drift =
  /** Someone edited the applied state by hand. */
  | 'edited'
  /** A work tree was applied instead of the branch. */
  | 'work-tree'
  /** It was applied from another branch, path or repository. */
  | 'other-branch';

/** Finds how a factory's applied state differs from the branch that it follows; null if it does not. */
export function findDrift(
  source: z.output<typeof sourceAnswer> | null,
  isEdited: boolean,
  { followed }: ReconcileView,
): Drift | null {
  if (source === null) return null;
  if (source.kind !== 'repository') return 'work-tree';
  const isSame = (['repository', 'branch', 'path'] as const).every(key => source[key] === followed[key]);
  if (!isSame) return 'other-branch';
  return isEdited ? 'edited' : null;
}
