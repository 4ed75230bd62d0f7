import { GitFailure, type GitFailureCode } from '../sources/repository/git/git-failure.ts';
import {
  type ReconcileEnd,
  type ReconcileFailureReason,
  type RememberedBranch,
  readReconcileStatus,
  recordReconcile,
} from '../store/embedded/reconcile-statuses.ts';
import { StoreError } from '../store/store-error.ts';
import type { Factory } from './apply.ts';
import {
  type Followed,
  type FollowedBranch,
  type FollowOptions,
  followBranch,
  followFailure,
} from './follow-branch.ts';

export type Reconciled =
  | Followed
  | { readonly result: 'suspended'; readonly since: string }
  /** The signal came before the end, and nothing was applied. */
  | { readonly result: 'stopped' };

/**
 * One reconcile of a repository-backed factory, unless it is suspended. How it ended is kept for `status`.
 * What can go wrong is in the result; fails only with a `StoreError` if even that cannot be kept.
 */
export async function reconcile(
  factory: Factory,
  followed: FollowedBranch,
  options: FollowOptions,
): Promise<Reconciled> {
  const { suspendedAt } = await readReconcileStatus(factory.home, factory.name);
  if (suspendedAt !== null) return { result: 'suspended', since: suspendedAt };
  const reconciled = await followBranch(factory, followed, options).catch(resultOf);
  if (reconciled.result !== 'stopped')
    await recordReconcile(factory, rememberedAs(followed), endOf(reconciled));
  return reconciled;
}

function resultOf(error: unknown): Reconciled & { result: 'failed' | 'stopped' } {
  if (error instanceof GitFailure) {
    const reason = reasons[error.code];
    return reason === 'stopped' ? { result: 'stopped' } : followFailure({ reason, message: error.message });
  }
  if (error instanceof StoreError) return followFailure({ reason: 'store', message: error.message });
  throw error;
}

const reasons: Readonly<Record<GitFailureCode, ReconcileFailureReason | 'stopped'>> = {
  refused: 'remote',
  timeout: 'timeout',
  'too-large': 'too-large',
  'git-missing': 'git-missing',
  stopped: 'stopped',
};

function rememberedAs({ repository: { url, branch, path }, credential }: FollowedBranch): RememberedBranch {
  return { repository: url, branch, path, credential: credential ?? null };
}

function endOf(reconciled: Followed): ReconcileEnd {
  if (reconciled.result !== 'failed') return { ok: true, tip: reconciled.tip };
  return { ok: false, ...reconciled };
}
