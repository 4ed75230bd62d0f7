import type { AppliedState } from '../schema/applied-state.ts';
import {
  checkFollowedRepository,
  type FollowedRepository,
} from '../sources/repository/followed-repository.ts';
import type { ReconcileStatus } from '../store/reconcile-statuses.ts';
import type { Factory } from './factory.ts';

/** Reads which repository the factory follows; undefined if it follows none. */
export async function readRememberedRepository({
  name,
  store,
}: Pick<Factory, 'name' | 'store'>): Promise<FollowedRepository | undefined> {
  const [state, status] = await Promise.all([
    store.appliedStates.read(name),
    store.reconcileStatuses.read(name),
  ]);
  return findRememberedRepository(state, status);
}

/** Finds the followed repository in the reconcile status, or in the applied state if the status is lost. */
function findRememberedRepository(
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
