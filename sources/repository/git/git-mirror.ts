import { appendFile, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definitionBytesMax } from '../../../schema/definitions/yaml-source.ts';
import type { Repository } from '../repository.ts';
import { GitFailure, noBranches, runGit } from './git-command.ts';
import {
  type GitCredential,
  makeGitEnvironment,
  passwordVariable,
  usernameVariable,
} from './git-environment.ts';

/** A bare repository in hookmill's store that holds the tip of one branch. Code that uses it must hold its lock. */
export interface GitMirror {
  readonly directory: string;
  readonly repository: Repository;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** The ref that a fetch sets to the branch's tip. */
export const tipRef = 'refs/hookmill/tip';

/** @limit Time limit for one fetch, in ms: enough for 500 MB over a slow line; beyond it the remote counts as unreachable. */
const gitFetchMs = 600_000;
/** @limit Commits of a branch fetched first: nearly always enough to include the applied revision. */
export const gitFetchDepth = 10;
/** @limit Most bytes in a mirror after a fetch: a shallow fetch of one branch contains little of the history. */
const gitFetchBytesMax = 2 * 1024 * 1024 * 1024;
/** @limit Most packs in a mirror, one for each fetch, before it is fetched again: each slows git down. */
export const gitPacksMax = 100;

/**
 * Prepares the mirror in an existing directory for a fetch. Discards it if a killed process left it unfinished.
 * Its configuration is rewritten each time, so nothing from a repository can be in it. Git also reads the operator's
 * system and global configuration, which may name credential helpers, proxies and certificates.
 */
export async function openMirror(
  directory: string,
  repository: Repository,
  ambient: NodeJS.ProcessEnv,
  credential: GitCredential | undefined,
  signal: AbortSignal,
): Promise<GitMirror> {
  const environment = makeGitEnvironment(ambient, directory, repository.transport, credential);
  const mirror = { directory, repository, environment, signal };
  await prepare(mirror, credential).catch((cause: NodeJS.ErrnoException) => {
    const message = `the mirror ${directory} cannot be written (${cause.code}); check its permissions and the free disk space`;
    throw new GitFailure('mirror-unwritable', message, { cause });
  });
  return mirror;
}

/** Removes everything that was fetched. */
export async function discardMirror({ directory }: Pick<GitMirror, 'directory'>): Promise<void> {
  const entries = await readdir(directory);
  const fetched = entries.filter(entry => entry !== 'HEAD' && entry !== 'config');
  await Promise.all(fetched.map(entry => rm(join(directory, entry), { recursive: true, force: true })));
  await makeSkeleton(directory);
}

/** Asks the remote for the branch's current commit; undefined if there is no such branch. Fails if there is none at all. */
export async function readRemoteTip(mirror: GitMirror): Promise<string | undefined> {
  const { branch } = mirror.repository;
  // The pattern also matches longer refs that end with it.
  const revision = await findRemoteBranch(mirror, branch, [`refs/heads/${branch}`]);
  if (revision === undefined && (await listHeads(mirror)) === '') throw noBranches();
  if (revision !== undefined) await setObjectFormat(mirror, revision);
  return revision;
}

/**
 * Asks the remote for the current commit of a branch with any name; undefined if there is no such branch. Without
 * patterns, the remote lists all of its branches.
 */
export async function findRemoteBranch(
  mirror: GitMirror,
  branch: string,
  patterns: readonly string[] = [],
): Promise<string | undefined> {
  const listing = await listHeads(mirror, patterns);
  const line = listing.split('\n').find(line => line.endsWith(`\trefs/heads/${branch}`));
  return line?.slice(0, line.indexOf('\t'));
}

function listHeads(mirror: GitMirror, patterns: readonly string[] = []): Promise<string> {
  const words = ['--refs', '--heads', '--', mirror.repository.url, ...patterns];
  return runGit({ ...mirror, session }, git => git.listRemote(words));
}

const session = { prefix: [] };

/** Fetches the tip of the branch and a little of its history. */
export async function fetchTip(mirror: GitMirror): Promise<void> {
  await fetchBranch(mirror, `--depth=${gitFetchDepth}`);
}

/** Fetches the branch's history since a time. */
export async function fetchHistorySince(mirror: GitMirror, time: Date): Promise<void> {
  const seconds = Math.max(0, Math.floor(time.getTime() / 1000));
  await fetchBranch(mirror, `--shallow-since=@${seconds} +0000`);
}

/** Fetches a commit with all of its files, and a little of its history. */
export async function fetchCommit(mirror: GitMirror, objectName: string): Promise<void> {
  await setObjectFormat(mirror, objectName);
  await fetch(mirror, {}, [`--depth=${gitFetchDepth}`], objectName);
}

/** Gives the mirror the object format of the remote: git fetches from no repository in another one. */
async function setObjectFormat({ directory }: GitMirror, objectName: string): Promise<void> {
  await appendFile(join(directory, 'config'), formatObjects(objectName));
}

/** The settings of a repository in the object format of this name, to follow those of one in SHA-1. */
export function formatObjects(objectName: string): string {
  if (objectName.length === 40) return '';
  return '[core]\n\trepositoryFormatVersion = 1\n[extensions]\n\tobjectFormat = sha256\n';
}

async function prepare(mirror: GitMirror, credential: GitCredential | undefined): Promise<void> {
  const { directory, repository } = mirror;
  if (await isWorn(directory)) await discardMirror(mirror);
  await makeSkeleton(directory);
  await writeFile(join(directory, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(directory, 'config'), formatConfiguration(repository, credential));
}

// With HEAD and config, these directories are a bare repository. `git init` would add the operator's templates and hooks.
async function makeSkeleton(directory: string): Promise<void> {
  await mkdir(join(directory, 'objects', 'pack'), { recursive: true });
  await mkdir(join(directory, 'refs'), { recursive: true });
}

async function fetchBranch(mirror: GitMirror, depth: string): Promise<void> {
  const remote = { promisor: 'true', partialclonefilter: filter };
  await fetch(mirror, remote, [depth, `--filter=${filter}`], `refs/heads/${mirror.repository.branch}`);
}

/**
 * Fetches a ref or object of the remote. The remote is configured for this one command only: otherwise, other commands
 * would fetch the blobs that a filter left out, and git would write the filter to the mirror's configuration.
 */
async function fetch(
  mirror: GitMirror,
  remoteSettings: Readonly<Record<string, string>>,
  options: readonly string[],
  source: string,
): Promise<void> {
  const settings = Object.entries({ url: mirror.repository.url, ...remoteSettings }).map(
    ([key, value]) => `remote.${remote}.${key}=${value}`,
  );
  const watch = () => checkSize(mirror.directory);
  const words = [
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    ...options,
    '--',
    remote,
    `+${source}:${tipRef}`,
  ];
  await runGit({ ...mirror, session, timeoutMs: gitFetchMs, settings, watch }, git => git.fetch(words));
}

const remote = 'upstream';
/** Leaves out blobs that are too large for a definition file, if the server supports it. */
const filter = `blob:limit=${definitionBytesMax + 1}`;

async function checkSize(directory: string): Promise<GitFailure | undefined> {
  const packs = join(directory, 'objects', 'pack');
  let bytes = 0;
  for (const entry of await readdir(packs)) {
    // Temporary files may disappear meanwhile.
    bytes += await stat(join(packs, entry)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  if (bytes <= gitFetchBytesMax) return undefined;
  return new GitFailure('too-large', `the branch is larger than ${gitFetchBytesMax} bytes`);
}

/** Whether a killed fetch left files behind, or the mirror has too many packs. */
async function isWorn(directory: string): Promise<boolean> {
  const names = async (...path: string[]) => readdir(join(directory, ...path)).catch(() => []);
  const files = await names('objects', 'pack');
  if (files.filter(name => name.endsWith('.pack')).length > gitPacksMax) return true;
  if (files.some(name => name.startsWith('tmp_'))) return true;
  return [...(await names()), ...(await names('refs', 'hookmill'))].some(name => name.endsWith('.lock'));
}

function formatConfiguration({ url }: Repository, credential: GitCredential | undefined): string {
  return `${settings}${credential ? formatCredentialHelper(url) : ''}`;
}

// These settings override the operator's. fsckObjects refuses malformed objects before they are kept; threads = 1
// leaves the other processors to the ingress; unpackLimit = 1 makes one pack of each fetch.
const settings = `[core]
	repositoryFormatVersion = 0
	bare = true
	hooksPath = /dev/null
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
 * Answers git's request for the credential from the environment, so that it is in no argument and no file. It answers
 * only for the repository's host, so a redirect to another host gets nothing. The empty helper disables the operator's.
 */
function formatCredentialHelper(url: string): string {
  const { origin } = new URL(url);
  const answer = `printf 'username=%s\\\\npassword=%s\\\\n' \\"$${usernameVariable}\\" \\"$${passwordVariable}\\"`;
  return `[credential]
	helper =
[credential "${origin}"]
	helper = "!f() { test \\"$1\\" = get && ${answer}; }; f"
`;
}
