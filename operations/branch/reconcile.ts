import { Refusal } from '../../schema/refusal.ts';
import type { FollowedBranch } from '../../sources/repository/followed-repository.ts';
import { GitFailure, type GitFailureCode } from '../../sources/repository/git/git-command.ts';
import type {
  ReconcileEnd,
  ReconcileFailureReason,
  ReconcileStatus,
} from '../../store/ports/reconcile-statuses.ts';
import { StoreError } from '../../store/ports/store-error.ts';
import type { Factory } from '../factory.ts';
import { summarize } from '../plan/plan.ts';
import { type Followed, type FollowOptions, followBranch, makeFailure } from './follow-branch.ts';
import { readRememberedRepository, recordReconcileEnd } from './remembered-repository.ts';

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
  const { suspendedAt, askedAt } = await reconcileStatuses.read(factory.name);
  if (suspendedAt !== null) return { result: 'suspended', since: suspendedAt };
  const reconciled = await followBranch(factory, followed, options).catch(toResult);
  if (reconciled.result !== 'stopped')
    await recordReconcileEnd(factory, followed, toReconcileEnd(reconciled), askedAt);
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
  'no-branches': 'branch-missing',
  timeout: 'timeout',
  'too-large': 'too-large',
  'git-missing': 'git-missing',
  'mirror-unwritable': 'store',
  stopped: 'stopped',
};

function toReconcileEnd(reconciled: Followed): ReconcileEnd {
  if (reconciled.result === 'failed') return { ok: false, ...reconciled };
  const { result, tip } = reconciled;
  return { ok: true, tip, ...(result === 'applied' && { summary: summarize(reconciled.changes) }) };
}

/**
 * Suspends or resumes reconciling of a factory. Returns the time since which it is suspended, null if it is not, and
 * whether that is new. Fails with `repository-missing`.
 */
export async function suspendReconcile(
  factory: Factory,
  suspended: boolean,
): Promise<{ readonly suspendedAt: string | null; readonly isNew: boolean }> {
  const { name, store, now } = factory;
  await requireFollowed(factory);
  const at = now().toISOString();
  let before: string | null = null;
  const { suspendedAt } = await store.reconcileStatuses.change(name, status => {
    before = status.suspendedAt;
    return { ...status, askedAt: null, suspendedAt: suspended ? (before ?? at) : null };
  });
  return { suspendedAt, isNew: suspendedAt !== before };
}

/**
 * Asks the daemons that follow the branch for a look at it at once, and returns when that was asked. Fails with
 * `repository-missing` or `reconcile-suspended`.
 */
export async function requestReconcile(factory: Factory): Promise<string> {
  const { name, store, now } = factory;
  await requireFollowed(factory);
  const askedAt = now().toISOString();
  requireFollowing(await store.reconcileStatuses.read(name));
  await store.reconcileStatuses.change(name, status => ({ ...requireFollowing(status), askedAt }));
  return askedAt;
}

async function requireFollowed(factory: Factory): Promise<void> {
  if (await readRememberedRepository(factory)) return;
  const detail = `the factory ${factory.name} was never reconciled with a repository`;
  throw new Refusal('repository-missing', { detail });
}

function requireFollowing(status: ReconcileStatus): ReconcileStatus {
  const { suspendedAt } = status;
  if (suspendedAt === null) return status;
  const detail = `reconciling has been suspended since ${suspendedAt}; resume it first`;
  throw new Refusal('reconcile-suspended', { detail });
}

/** Records that the factory no longer follows a branch. Keeps the branch if reconciling is only suspended. */
export async function forgetFollowed({ name, store }: Factory): Promise<void> {
  await store.reconcileStatuses.change(name, status =>
    status.suspendedAt === null ? { ...status, followed: null } : status,
  );
}
