import type { AppliedState } from '../schema/applied-state.ts';
import {
  checkFollowedRepository,
  type FollowedRepository,
} from '../sources/repository/followed-repository.ts';
import { readAppliedState } from '../store/embedded/applied-states.ts';
import type { Home } from '../store/embedded/files/home.ts';
import { type ReconcileStatus, readReconcileStatus } from '../store/embedded/reconcile-statuses.ts';

/** The repository that the factory was last reconciled with; undefined where it is not repository-backed. */
export async function readRememberedRepository(
  home: Home,
  factory: string,
): Promise<FollowedRepository | undefined> {
  const state = await readAppliedState(home, factory);
  return rememberedRepository(state, await readReconcileStatus(home, factory));
}

/** The applied state tells too, should the status be lost. */
export function rememberedRepository(
  { factory, source }: Pick<AppliedState, 'factory' | 'source'>,
  { followed }: Pick<ReconcileStatus, 'followed'>,
): FollowedRepository | undefined {
  const place = followed ?? (source?.kind === 'repository' ? source : undefined);
  if (!place) return undefined;
  const { repository, branch, path } = place;
  const { secretName, username } = followed?.credential ?? {};
  const checked = checkFollowedRepository({
    ...{ factory, repository, branch, path },
    ...(secretName !== undefined && { credentialSecret: secretName, credentialUsername: username }),
  });
  return 'followed' in checked ? checked.followed : undefined;
}
