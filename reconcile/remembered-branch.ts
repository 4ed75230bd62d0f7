import type { AppliedState } from '../schema/applied-state.ts';
import { readAppliedState } from '../store/applied-state-store.ts';
import type { Home } from '../store/home.ts';
import { type ReconcileStatus, readReconcileStatus } from '../store/reconcile-status.ts';
import type { FollowedBranch } from './follow-branch.ts';
import { parseRepository } from './repository.ts';

/** The branch that the factory was last reconciled to; undefined where it is not repository-backed. */
export async function readRememberedBranch(home: Home, factory: string): Promise<FollowedBranch | undefined> {
  const [state, status] = await Promise.all([
    readAppliedState(home, factory),
    readReconcileStatus(home, factory),
  ]);
  return rememberedBranch(state, status);
}

/** The applied state tells too, should the status be lost. */
export function rememberedBranch(
  { source }: Pick<AppliedState, 'source'>,
  { followed }: Pick<ReconcileStatus, 'followed'>,
): FollowedBranch | undefined {
  const place = followed ?? (source?.kind === 'repository' ? source : undefined);
  if (!place) return undefined;
  const parsed = parseRepository(place.repository, place.branch, place.path);
  if ('problem' in parsed) return undefined;
  return { repository: parsed.repository, credential: followed?.credential ?? undefined };
}
