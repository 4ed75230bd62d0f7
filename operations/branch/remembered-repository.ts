import type { AppliedState } from '../../schema/applied-state.ts';
import {
  checkFollowedRepository,
  type FollowedBranch,
  type FollowedRepository,
  type RepositoryCredential,
} from '../../sources/repository/followed-repository.ts';
import type { GitCredential } from '../../sources/repository/git/git-environment.ts';
import {
  addReconcileEnd,
  type ReconcileEnd,
  type ReconcileStatus,
  type RememberedBranch,
} from '../../store/ports/reconcile-statuses.ts';
import type { Store } from '../../store/ports/store.ts';
import { toSourcePlace } from '../applied-source.ts';
import type { Factory } from '../factory.ts';

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

/**
 * Stores the end of a reconcile. `answered` is the `askedAt` that the status had when it began. Fails with a
 * `StoreError`.
 */
export async function recordReconcileEnd(
  { name, store, now }: Pick<Factory, 'name' | 'store' | 'now'>,
  followed: FollowedBranch,
  end: ReconcileEnd,
  answered: string | null = null,
): Promise<void> {
  const at = now().toISOString();
  const branch = toRememberedBranch(followed);
  await store.reconcileStatuses.change(name, status => addReconcileEnd(status, branch, end, at, answered));
}

function toRememberedBranch({ repository, credential }: FollowedBranch): RememberedBranch {
  return { ...toSourcePlace(repository), credential: credential ?? null };
}

/** The reason why a credential cannot be used, and the remedy. */
interface UnusableCredential {
  readonly message: string;
  readonly hint: string;
}

/** Reads the credential of a repository for a factory. */
export async function openCredential(
  { name, store }: { readonly name: string; readonly store: Pick<Store, 'teamSecrets'> },
  { username, secretName }: RepositoryCredential,
): Promise<GitCredential | UnusableCredential> {
  const secret = (await store.teamSecrets.open([secretName], name)).get(secretName);
  if (secret?.forbiddenTo !== undefined) {
    const message = `the factory ${name} may not use the team secret ${secretName} for its repository`;
    return { message, hint: `\`hookmill secrets share ${secretName} ${name}\` allows it` };
  }
  if (secret?.unresolved) return secret.unresolved;
  const password = secret?.value?.text;
  // A line break would end the value in the protocol of git's credential helpers.
  if (password === undefined || /[\r\n\0]/.test(username + password)) {
    const message = `the team secret ${secretName} for the repository has no value, or one with line breaks`;
    return { message, hint: `set it with \`hookmill secrets set ${secretName}\`` };
  }
  return { username, password };
}
