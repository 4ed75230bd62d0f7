import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitFailure } from './git/git-command.ts';
import type { GitCredential } from './git/git-environment.ts';
import { fetchCommit, findRemoteBranch, formatObjects, openMirror } from './git/git-mirror.ts';
import { hasCommit, sumFileSizes } from './git/git-objects.ts';
import { isBranchName, type Repository } from './repository.ts';

/** @limit Most bytes of the files of a working copy, uncompressed (2 GiB): a run cannot fill the disk with them. */
const workingCopyBytesMax = 2 * 1024 * 1024 * 1024;

/** A commit or branch that a payload names, checked. */
export type RevisionName = { readonly commit: string } | { readonly branch: string };

/**
 * Parses the full name of a commit, or the name of a branch with or without `refs/heads/`; undefined for anything else.
 */
export function parseRevisionName(value: unknown): RevisionName | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) return { commit: value };
  const branch = value.replace(/^refs\/heads\//, '');
  return isBranchName(branch) ? { branch } : undefined;
}

export interface WorkingCopyOptions {
  readonly repository: Repository;
  readonly credential: GitCredential | undefined;
  /** The operator's variables. */
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Fetches a commit into a new directory as a git repository whose files are not checked out yet. It holds no credential
 * and none of the operator's configuration. Only the full name of a commit becomes an argument of git. Fails with a
 * `GitFailure`: `too-large`, or `refused` if there is no such commit or branch.
 */
export async function fetchWorkingCopy(
  directory: string,
  revision: RevisionName,
  { repository, credential, environment, signal }: WorkingCopyOptions,
): Promise<void> {
  const git = join(directory, '.git');
  await mkdir(git, { recursive: true });
  const mirror = await openMirror(git, repository, environment, credential, signal);
  const commit = 'commit' in revision ? revision.commit : await findRemoteBranch(mirror, revision.branch);
  if (commit === undefined) throw new GitFailure('refused', 'the repository has no such branch');
  await fetchCommit(mirror, commit);
  if (!(await hasCommit(mirror, commit))) throw new GitFailure('refused', 'the object is not a commit');
  if ((await sumFileSizes(mirror, commit)) > workingCopyBytesMax)
    throw new GitFailure('too-large', `the files are larger than ${workingCopyBytesMax} bytes in total`);
  await writeFile(join(git, 'HEAD'), `${commit}\n`);
  await writeFile(join(git, 'config'), `${formatConfiguration(repository.url)}${formatObjects(commit)}`);
}

function formatConfiguration(url: string): string {
  const quoted = `"${url.replaceAll(/["\\]/g, '\\$&')}"`;
  return `[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n[remote "origin"]\n\turl = ${quoted}\n`;
}
