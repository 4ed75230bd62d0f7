import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { GitFailure, type GitFailureCode } from '../../sources/repository/git/git-failure.ts';
import type { ReconcileEnd, ReconcileFailureReason } from '../../store/ports/reconcile-statuses.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import type { Factory } from '../factory.ts';
import { type Followed, type FollowOptions, followBranch, makeFailure } from './follow-branch.ts';
import { recordReconcileEnd } from './remembered-repository.ts';

export type Reconciled =
  | Followed
  | { readonly result: 'suspended'; readonly since: string }
  /** The signal stopped it before anything was applied. */
  | { readonly result: 'stopped' };

/**
 * Reconciles a factory that follows a repository once, unless reconciling is suspended. The result is stored for
 * `status`. Failures are results; this rejects only with a `StoreError` if the result cannot be stored.
 */
export async function reconcile(
  factory: Factory,
  followed: FollowedBranch,
  options: FollowOptions,
): Promise<Reconciled> {
  const { reconcileStatuses } = factory.store;
  const { suspendedAt } = await reconcileStatuses.read(factory.name);
  if (suspendedAt !== null) return { result: 'suspended', since: suspendedAt };
  const reconciled = await followBranch(factory, followed, options).catch(toResult);
  if (reconciled.result !== 'stopped')
    await recordReconcileEnd(factory, followed, toReconcileEnd(reconciled));
  return reconciled;
}

function toResult(error: unknown): Reconciled & { result: 'failed' | 'stopped' } {
  if (error instanceof GitFailure) {
    const reason = reasons[error.code];
    return reason === 'stopped' ? { result: 'stopped' } : makeFailure({ reason, message: error.message });
  }
  if (error instanceof StoreError) return makeFailure({ reason: 'store', message: error.message });
  throw error;
}

const reasons: Readonly<Record<GitFailureCode, ReconcileFailureReason | 'stopped'>> = {
  refused: 'remote',
  timeout: 'timeout',
  'too-large': 'too-large',
  'git-missing': 'git-missing',
  'mirror-unwritable': 'store',
  stopped: 'stopped',
};

function toReconcileEnd(reconciled: Followed): ReconcileEnd {
  if (reconciled.result !== 'failed') return { ok: true, tip: reconciled.tip };
  return { ok: false, ...reconciled };
}

/** Suspends or resumes reconciling of a factory. Returns the time since which it is suspended; null if it is not. */
export async function suspendReconcile(
  { name, store, now }: Factory,
  suspended: boolean,
): Promise<string | null> {
  const at = now().toISOString();
  const { suspendedAt } = await store.reconcileStatuses.change(name, status => ({
    ...status,
    suspendedAt: suspended ? (status.suspendedAt ?? at) : null,
  }));
  return suspendedAt;
}

/** Records that the factory no longer follows a branch. Keeps the branch if reconciling is only suspended. */
export async function forgetFollowed({ name, store }: Factory): Promise<void> {
  await store.reconcileStatuses.change(name, status =>
    status.suspendedAt === null ? { ...status, followed: null } : status,
  );
}
