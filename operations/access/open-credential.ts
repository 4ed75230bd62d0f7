import type { RepositoryCredential } from '../../sources/repository/followed-repository.ts';
import type { GitCredential } from '../../sources/repository/git/git-environment.ts';
import type { Store } from '../../store/ports/store.ts';

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
