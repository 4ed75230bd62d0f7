import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definitionBytesMax } from '../../../schema/definitions/yaml-source.ts';
import type { Repository } from '../repository.ts';
import { gitCommandMs, runGit } from './git-command.ts';
import { type GitCredential, gitEnvironment, passwordVariable, usernameVariable } from './git-environment.ts';
import { GitFailure } from './git-failure.ts';

/** @limit Time limit for one fetch, in ms: enough for 500 MB over a slow line; beyond it the remote counts as unreachable. */
const gitFetchMs = 600_000;
/** @limit Commits of a branch fetched first: nearly always enough to include the applied revision. */
export const gitFetchDepth = 10;
/** @limit Most bytes that a fetch may write: a shallow fetch of one branch holds little of a repository's history. */
const gitFetchBytesMax = 2 * 1024 * 1024 * 1024;
/** @limit Most packs in a mirror, one for each fetch, before it is made again: git slows down with each. */
export const gitPacksMax = 100;

/** A bare repository of ours that holds the tip of one branch of another. Whoever uses it holds its lock. */
export interface GitMirror {
  readonly directory: string;
  readonly repository: Repository;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

export const tipRef = 'refs/hookmill/tip';

/**
 * The mirror at the directory, which exists and is ours alone, ready to fetch; what a killed process left unfinished there is thrown away.
 * Its configuration is written here and nowhere else, so that nothing of a repository can be in it. Git also reads
 * the operator's own configuration (system and global), where credential helpers, proxies and certificates stand.
 */
export async function openMirror(
  directory: string,
  repository: Repository,
  ambient: NodeJS.ProcessEnv,
  credential: GitCredential | undefined,
  signal: AbortSignal,
): Promise<GitMirror> {
  const environment = gitEnvironment(ambient, directory, repository.transport, credential);
  const mirror = { directory, repository, environment, signal };
  await prepare(mirror, credential).catch((cause: NodeJS.ErrnoException) => {
    const message = `the mirror ${directory} cannot be written (${cause.code})`;
    throw new GitFailure('mirror-unwritable', message, { cause });
  });
  return mirror;
}

/** Throws all away that was fetched, and what a fetch left unfinished. */
export async function discardMirror({ directory }: Pick<GitMirror, 'directory'>): Promise<void> {
  const entries = await readdir(directory);
  const fetched = entries.filter(entry => entry !== 'HEAD' && entry !== 'config');
  await Promise.all(fetched.map(entry => rm(join(directory, entry), { recursive: true, force: true })));
  await makeSkeleton(directory);
}

/** The commit that the branch is at now, asked of the remote; undefined where there is no such branch. */
export async function readRemoteTip(mirror: GitMirror): Promise<string | undefined> {
  const ref = `refs/heads/${mirror.repository.branch}`;
  const listing = await runGit({ ...mirror, remote: true, timeoutMs: gitCommandMs }, git =>
    git.raw(['ls-remote', '--refs', '--', mirror.repository.url, ref]),
  );
  // The pattern also matches refs that end with it.
  const line = listing.split('\n').find(line => line.endsWith(`\t${ref}`));
  return line?.slice(0, line.indexOf('\t'));
}

/** Fetches the tip of the branch, and little of its history. `tipRef` names it then. */
export async function fetchTip(mirror: GitMirror): Promise<void> {
  await fetchBranch(mirror, `--depth=${gitFetchDepth}`);
}

/** Fetches the branch's history after a time, so that a commit of that time can be found in it. */
export async function fetchHistorySince(mirror: GitMirror, time: Date): Promise<void> {
  const seconds = Math.max(0, Math.floor(time.getTime() / 1000));
  await fetchBranch(mirror, `--shallow-since=@${seconds} +0000`);
}

async function prepare(mirror: GitMirror, credential: GitCredential | undefined): Promise<void> {
  const { directory, repository } = mirror;
  if (await isWorn(directory)) await discardMirror(mirror);
  await makeSkeleton(directory);
  await writeFile(join(directory, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(directory, 'config'), configuration(repository, credential));
}

// With HEAD and config these make a bare repository; `git init` would add the operator's templates, hooks among them.
async function makeSkeleton(directory: string): Promise<void> {
  await mkdir(join(directory, 'objects', 'pack'), { recursive: true });
  await mkdir(join(directory, 'refs'), { recursive: true });
}

async function fetchBranch(mirror: GitMirror, depth: string): Promise<void> {
  const { url, branch } = mirror.repository;
  const watch = () => sizeFailure(mirror.directory);
  await runGit({ ...mirror, remote: true, timeoutMs: gitFetchMs, watch }, git =>
    git.raw([
      ...filteredRemote(url),
      // Not --quiet: simple-git waits a while for output of a command that printed nothing.
      'fetch',
      '--no-progress',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-recurse-submodules',
      '--no-auto-maintenance',
      depth,
      `--filter=${filter}`,
      '--',
      remote,
      `+refs/heads/${branch}:${tipRef}`,
    ]),
  );
}

const remote = 'upstream';
/** Larger blobs stay where they are, if the server can leave them out; else all come. */
const filter = `blob:limit=${definitionBytesMax + 1}`;

/**
 * The remote for this one command alone. For every other it is unknown to git, which would otherwise fetch what was
 * left out, out of any command that comes upon it; and git notes nothing of the filter in the mirror's configuration.
 */
function filteredRemote(url: string): string[] {
  const settings = { url, promisor: 'true', partialclonefilter: filter };
  return Object.entries(settings).flatMap(([key, value]) => ['-c', `remote.${remote}.${key}=${value}`]);
}

async function sizeFailure(directory: string): Promise<GitFailure | undefined> {
  const packs = join(directory, 'objects', 'pack');
  let bytes = 0;
  for (const entry of await readdir(packs)) {
    // Temporary files go while they are listed.
    bytes += await stat(join(packs, entry)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  if (bytes <= gitFetchBytesMax) return undefined;
  return new GitFailure('too-large', `the branch has more than ${gitFetchBytesMax} bytes`);
}

/** Whether a killed fetch left something behind, or so many fetches were made that a new mirror serves better. */
async function isWorn(directory: string): Promise<boolean> {
  const names = async (...path: string[]) => readdir(join(directory, ...path)).catch(() => []);
  const packs = await names('objects', 'pack');
  if (packs.length > 2 * gitPacksMax || packs.some(name => name.startsWith('tmp_'))) return true;
  return [...(await names()), ...(await names('refs', 'hookmill'))].some(name => name.endsWith('.lock'));
}

function configuration({ url }: Repository, credential: GitCredential | undefined): string {
  return `${settings}${credential ? credentialHelper(url) : ''}`;
}

// Over the operator's own configuration. fsckObjects refuses malformed objects before they are kept; threads = 1
// leaves the other processors to the ingress; unpackLimit = 1 makes one pack of each fetch.
const settings = `[core]
	repositoryFormatVersion = 0
	bare = true
	hooksPath = /dev/null
	fsmonitor = false
[fetch]
	fsckObjects = true
	unpackLimit = 1
	recurseSubmodules = false
	writeCommitGraph = false
[pack]
	threads = 1
[gc]
	auto = 0
[maintenance]
	auto = false
[credential]
	interactive = false
`;

/**
 * Answers git's question for the credential out of the environment, so that it stands in no argument and no file.
 * For the repository's host alone: a redirect elsewhere gets nothing. The empty helper unsets the operator's own.
 */
function credentialHelper(url: string): string {
  const { origin } = new URL(url);
  const answer = `printf 'username=%s\\\\npassword=%s\\\\n' \\"$${usernameVariable}\\" \\"$${passwordVariable}\\"`;
  return `[credential]
	helper =
[credential "${origin}"]
	helper = "!f() { test \\"$1\\" = get && ${answer}; }; f"
`;
}
