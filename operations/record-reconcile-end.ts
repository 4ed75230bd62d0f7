import type { FollowedBranch } from '../sources/repository/followed-repository.ts';
import { addReconcileEnd, type ReconcileEnd, type RememberedBranch } from '../store/reconcile-statuses.ts';
import { toSourcePlace } from './applied-source.ts';
import type { Factory } from './factory.ts';
/** Stores the end of a reconcile. Fails with a `StoreError`. */
export async function recordReconcileEnd(
  { name, store, now }: Pick<Factory, 'name' | 'store' | 'now'>,
  followed: FollowedBranch,
  end: ReconcileEnd,
): Promise<void> {
  const at = now().toISOString();
  const branch = toRememberedBranch(followed);
  await store.reconcileStatuses.change(name, status => addReconcileEnd(status, branch, end, at));
}

function toRememberedBranch({ repository, credential }: FollowedBranch): RememberedBranch {
  return { ...toSourcePlace(repository), credential: credential ?? null };
}
