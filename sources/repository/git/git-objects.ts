import type { Commit } from '../../../schema/commit.ts';
import { gitCommandMs, gitOutputBytesMax, runGit } from './git-command.ts';
import { GitFailure } from './git-failure.ts';
import type { GitMirror } from './git-mirror.ts';

/** @limit Most characters kept of a commit's author and of its subject: a line on a screen. */
const commitTextCharsMax = 200;

/** An entry of a tree as `git ls-tree` lists it. The name is the repository's: any bytes but NUL and `/`. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly oid: string;
  /** Bytes of a blob; infinite where it was left out of the fetch for its size. */
  readonly size: number;
  /** The path from the tree. */
  readonly path: string;
}

/** Author and subject are cut to their first characters. */
export async function readCommit(mirror: GitMirror, name: string): Promise<Commit> {
  const format = '--format=%H%x00%an%x00%ct%x00%s';
  const output = await local(mirror, ['rev-list', '--max-count=1', '--no-commit-header', format, name]);
  const [revision = '', author = '', seconds = '', subject = ''] = output.replace(/\n$/, '').split('\0');
  return {
    revision,
    author: author.slice(0, commitTextCharsMax),
    subject: subject.slice(0, commitTextCharsMax),
    committedAt: new Date(Number(seconds) * 1000).toISOString(),
  };
}

/** The entries of a tree (or of a commit's), or those of them that stand at the paths. */
export async function listTree(
  mirror: GitMirror,
  tree: string,
  paths: readonly string[] = [],
): Promise<TreeEntry[]> {
  const output = await local(mirror, ['ls-tree', '-z', '-l', '--full-tree', tree, '--', ...paths]);
  return output.split('\0').slice(0, -1).map(parseEntry);
}

/** The contents of blobs by their ids, exact. */
export async function readBlobs(
  mirror: GitMirror,
  blobs: readonly Pick<TreeEntry, 'oid' | 'size'>[],
): Promise<Map<string, Uint8Array>> {
  if (blobs.length === 0) return new Map();
  if (blobs.reduce((sum, { size }) => sum + size, 0) > gitOutputBytesMax / 2) {
    throw new GitFailure('too-large', 'the definition files are too large taken together');
  }
  const input = blobs.map(({ oid }) => `${oid}\n`).join('');
  const output: Buffer = await runGit({ ...mirror, timeoutMs: gitCommandMs, input }, git =>
    git.binaryCatFile(['--batch']),
  );
  return parseBatch(output);
}

/** Whether the mirror has a commit. */
export async function hasCommit(mirror: GitMirror, revision: string): Promise<boolean> {
  const input = `${revision}\n`;
  const output = await runGit({ ...mirror, timeoutMs: gitCommandMs, input }, git =>
    git.raw(['cat-file', '--batch-check=%(objecttype)']),
  );
  return output.trim() === 'commit';
}

/** How many commits come after one up to another that descends from it; 0 where none does, or they are the same. */
export async function countDescendants(mirror: GitMirror, from: string, to: string): Promise<number> {
  if (!(await hasCommit(mirror, from))) return 0;
  return Number(await local(mirror, ['rev-list', '--count', '--ancestry-path', `${from}..${to}`]));
}

/** The definition files of a tree that have another name in another tree, by git's own measure of similarity. */
export async function renamedFiles(
  mirror: GitMirror,
  before: string,
  after: string,
): Promise<{ readonly from: string; readonly to: string }[]> {
  const filters = ['-M', '--diff-filter=R', '--name-status', '-z', '--no-ext-diff', '--no-textconv'];
  const output = await local(mirror, ['diff-tree', ...filters, before, after, '--', '*.yaml']);
  // Status, old name and new name of each, NUL after each.
  const fields = output.split('\0').slice(0, -1);
  return Array.from({ length: Math.floor(fields.length / 3) }, (_, index) => ({
    from: fields[3 * index + 1] ?? '',
    to: fields[3 * index + 2] ?? '',
  }));
}

function local(mirror: GitMirror, args: readonly string[]): Promise<string> {
  return runGit({ ...mirror, timeoutMs: gitCommandMs }, git => git.raw([...args]));
}

// <mode> SP <type> SP <oid> SP+ <size, - of what is no blob, or BAD of one that is not here> TAB <path>
const treeLine = /^(\d{6}) (\w+) ([0-9a-f]{40}) +(\d+|-|BAD)\t(.*)$/s;
const sizes: Readonly<Record<string, number>> = { '-': 0, BAD: Number.POSITIVE_INFINITY };

function parseEntry(line: string): TreeEntry {
  const [, mode = '', type = '', oid = '', size = '', path = ''] = treeLine.exec(line) ?? [];
  if (oid === '') throw new GitFailure('refused', 'git listed a tree in a form that is not known');
  return { mode, type, oid, size: sizes[size] ?? Number(size), path };
}

// For each object: <oid> SP <type> SP <size> LF <contents> LF
function parseBatch(output: Buffer): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  let offset = 0;
  while (offset < output.length) {
    const lineEnd = output.indexOf('\n', offset);
    const [oid = '', type, size = ''] = output.toString('latin1', offset, lineEnd).split(' ');
    if (type !== 'blob') throw new GitFailure('refused', `git has no blob ${oid}`);
    const start = lineEnd + 1;
    contents.set(oid, output.subarray(start, start + Number(size)));
    offset = start + Number(size) + 1;
  }
  return contents;
}
