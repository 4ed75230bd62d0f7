import type { RepositoryCredential } from '../sources/repository/followed-repository.ts';
import type { GitCredential } from '../sources/repository/git/git-environment.ts';
import type { Store } from '../store/ports.ts';

/** Reads the credential of a repository for a factory: `unusable` without a value, `forbidden` to the factory. */
export async function openCredential(
  { name, store }: { readonly name: string; readonly store: Pick<Store, 'teamSecrets'> },
  { username, secretName }: RepositoryCredential,
): Promise<GitCredential | 'unusable' | 'forbidden'> {
  const secret = (await store.teamSecrets.open([secretName], name)).get(secretName);
  if (secret?.forbiddenTo !== undefined) return 'forbidden';
  const password = secret?.value?.text;
  // A line break would end the value in the protocol of git's credential helpers.
  if (password === undefined || /[\r\n\0]/.test(username + password)) return 'unusable';
  return { username, password };
}
