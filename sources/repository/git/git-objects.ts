import type { Commit } from '../../../schema/commit.ts';
import { GitFailure, gitOutputBytesMax, runGit } from './git-command.ts';
import type { GitMirror } from './git-mirror.ts';

/** @limit Most characters kept of a commit's author and of its subject: a line on a screen. */
const commitTextCharsMax = 200;

/** An entry of a tree, as `git ls-tree` lists it. Its name may contain any bytes except NUL and `/`. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  /** Bytes of a blob; infinite if the fetch left it out because of its size. */
  readonly size: number;
  /** Relative to the tree. */
  readonly path: string;
}

/** Reads a commit, with its author and subject truncated. */
export async function readCommit(mirror: GitMirror, name: string): Promise<Commit> {
  const format = '--format=%H%x00%an%x00%ct%x00%s';
  const output = await runLocal(mirror, ['rev-list', '--max-count=1', '--no-commit-header', format, name]);
  const [revision = '', author = '', seconds = '', subject = ''] = output.replace(/\n$/, '').split('\0');
  return {
    revision,
    author: author.slice(0, commitTextCharsMax),
    subject: subject.slice(0, commitTextCharsMax),
    committedAt: new Date(Number(seconds) * 1000).toISOString(),
  };
}

/** Lists the entries of a tree or of a commit's tree, or only those at the paths, or also all that is below them. */
export async function listTree(
  mirror: GitMirror,
  tree: string,
  paths: readonly string[] = [],
  isWhole = false,
): Promise<TreeEntry[]> {
  const options = ['-z', '-l', '--full-tree', ...(isWhole ? ['-r', '-t'] : [])];
  const output = await runLocal(mirror, ['ls-tree', ...options, tree, '--', ...paths]);
  return output.split('\0').slice(0, -1).map(parseEntry);
}

/** Adds up the sizes of all files of a commit, in bytes. */
export async function sumFileSizes(mirror: GitMirror, revision: string): Promise<number> {
  const output = await runLocal(mirror, [
    'ls-tree',
    '-r',
    '--full-tree',
    '--format=%(objectsize)',
    revision,
    '--',
  ]);
  return output.split('\n').reduce((sum, size) => sum + (Number(size) || 0), 0);
}

/** Reads the exact contents of blobs, by their ids. */
export async function readBlobs(
  mirror: GitMirror,
  blobs: readonly Pick<TreeEntry, 'oid' | 'size'>[],
): Promise<Map<string, Uint8Array>> {
  if (blobs.length === 0) return new Map();
  if (blobs.reduce((sum, { size }) => sum + size, 0) > gitOutputBytesMax / 2) {
    throw new GitFailure(
      'too-large',
      `the definition files are larger than ${gitOutputBytesMax / 2} bytes in total`,
    );
  }
  const contents = new Map<string, Uint8Array>();
  for (const { name, type, bytes } of await readObjects(
    mirror,
    blobs.map(({ oid }) => oid),
  )) {
    if (type !== 'blob') throw new GitFailure('refused', `git found no blob ${name}`);
    contents.set(name, bytes);
  }
  return contents;
}

/** Reads the parents of commits from their texts, so that a shallow clone has them too; without commits that the mirror lacks. */
export async function readParents(
  mirror: GitMirror,
  revisions: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const objects = await readObjects(mirror, revisions);
  const commits = objects.filter(({ type }) => type === 'commit');
  return new Map(
    commits.map(({ name, bytes }) => {
      const [head = ''] = Buffer.from(bytes).toString('utf8').split('\n\n', 1);
      const parents = head.split('\n').filter(line => line.startsWith('parent '));
      return [name, parents.map(line => line.slice('parent '.length))];
    }),
  );
}

/** Whether the mirror has a commit. */
export async function hasCommit(mirror: GitMirror, revision: string): Promise<boolean> {
  const input = `${revision}\n`;
  const output = await runGit({ ...mirror, input }, git =>
    git.raw(['cat-file', '--batch-check=%(objecttype)']),
  );
  return output.trim() === 'commit';
}

/** Counts the commits after `from` up to its descendant `to`; 0 if `to` is `from` or does not descend from it. */
export async function countDescendants(mirror: GitMirror, from: string, to: string): Promise<number> {
  return (await hasCommit(mirror, from)) ? countBetween(mirror, from, to) : 0;
}

/** As `countDescendants`, of commits that the mirror has. */
export async function countBetween(mirror: GitMirror, from: string, to: string): Promise<number> {
  return Number(await runLocal(mirror, ['rev-list', '--count', '--ancestry-path', `${from}..${to}`]));
}

function runLocal(mirror: GitMirror, args: readonly string[]): Promise<string> {
  return runGit(mirror, git => git.raw([...args]));
}

// <mode> SP <type> SP <oid> SP+ <size, - if it is no blob, or BAD if the blob is missing> TAB <path>
const treeLine = /^(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-|BAD)\t(.*)$/s;
const sizes: Readonly<Record<string, number>> = { '-': 0, BAD: Number.POSITIVE_INFINITY };

function parseEntry(line: string): TreeEntry {
  const [, mode = '', type = '', oid = '', size = '', path = ''] = treeLine.exec(line) ?? [];
  if (oid === '') throw new GitFailure('refused', 'git listed a tree in an unknown format');
  return { mode, type, oid, size: sizes[size] ?? Number(size), path };
}

interface GitObject {
  readonly name: string;
  /** `missing` if the mirror lacks it. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Reads objects by their names. */
async function readObjects(mirror: GitMirror, names: readonly string[]): Promise<GitObject[]> {
  const input = names.map(name => `${name}\n`).join('');
  const output: Buffer = await runGit({ ...mirror, input }, git => git.binaryCatFile(['--batch']));
  const objects: GitObject[] = [];
  // For each object: <oid> SP <type> SP <size> LF <contents> LF; or <oid> SP missing LF
  for (let offset = 0; offset < output.length; ) {
    const lineEnd = output.indexOf('\n', offset);
    const [name = '', type = '', size] = output.toString('latin1', offset, lineEnd).split(' ');
    const start = lineEnd + 1;
    const end = start + Number(size ?? 0);
    objects.push({ name, type, bytes: output.subarray(start, end) });
    offset = size === undefined ? start : end + 1;
  }
  return objects;
}
