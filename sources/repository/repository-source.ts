import { posix } from 'node:path';
import { promptBytesMax } from '../../schema/definitions/automation-definition.ts';
import { factoryBytesMax } from '../../schema/factory-size.ts';
import { type DefinitionFiles, type Entry, type EntryKind, parseDefinitionName } from '../definitions.ts';
import { describeSize, findCrowd } from '../oversize.ts';
import { collectPrompts, listPromptPaths } from '../prompt-files.ts';
import { getBytesMax, isListedWhole, readEntries } from '../read-entries.ts';
import { GitFailure } from './git/git-command.ts';
import type { GitMirror } from './git/git-mirror.ts';
import { listTree, readBlobs, type TreeEntry } from './git/git-objects.ts';

/** @limit Paths that one git command lists: its arguments have at most about 100 KB. */
const listedPathsMax = 500;

/**
 * Reads the definitions of a commit below `path`, and the prompt files that they name, as blobs. Without a work tree, no
 * link is followed and nothing is executed. A missing blob is a `GitFailure`, unless `mayLack` says that large blobs were
 * not fetched. File names in diagnostics begin with `label`.
 */
export async function readRevision(
  mirror: GitMirror,
  revision: string,
  path: string,
  mayLack: boolean,
  label = path,
): Promise<DefinitionFiles> {
  const prefix = path === '' || path === '.' ? '' : `${path}/`;
  const inCommit: ReadBlobs = { mirror, prefix, mayLack };
  const root = await listTree(mirror, revision, prefix === '' ? [] : [prefix]);
  const whole = root.filter(({ type, path }) => type === 'tree' && isListedWhole(path.slice(prefix.length)));
  const inside = whole.map(tree => `${tree.path}/`);
  const below = inside.length === 0 ? [] : await listTree(mirror, revision, inside, true);
  const listed = [...root, ...below.filter(({ path }) => !inside.includes(`${path}/`))];
  const getLimit = (entry: Pick<Entry, 'path' | 'kind'>) => getBytesMax(entry, false);
  const tooLarge = { files: [], diagnostics: [describeSize(posix.join(label, '.'))] };
  const entries = await readBytes(inCommit, listed, getLimit);
  if (!entries) return tooLarge;
  const crowd = findCrowd(entries, label);
  if (crowd) return { files: [], diagnostics: [crowd] };
  const found = readEntries(entries, { label });

  const paths = listPromptPaths(found.files);
  const wanted = [...new Set(paths.flatMap(listAncestors))].map(at => `${prefix}${at}`);
  const prompts: TreeEntry[] = [];
  for (let from = 0; from < wanted.length; from += listedPathsMax)
    prompts.push(...(await listTree(mirror, revision, wanted.slice(from, from + listedPathsMax))));
  const read = await readBytes(inCommit, prompts, ({ kind }) =>
    kind === 'file' ? promptBytesMax : undefined,
  );
  return read ? { ...found, prompts: collectPrompts(paths, read) } : tooLarge;
}

/** The path itself, and each folder on the way there. */
function listAncestors(path: string): string[] {
  const names = path.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

interface ReadBlobs {
  readonly mirror: GitMirror;
  readonly prefix: string;
  readonly mayLack: boolean;
}

/** Makes entries of those of a tree, with the bytes of the files that have a limit; undefined if these are too many. */
async function readBytes(
  { mirror, prefix, mayLack }: ReadBlobs,
  listed: readonly TreeEntry[],
  getLimit: (entry: Pick<Entry, 'path' | 'kind'>) => number | undefined,
): Promise<Entry[] | undefined> {
  const entries = listed.map(blob => {
    const entry = { path: blob.path.slice(prefix.length), kind: getEntryKind(blob) };
    const limit = getLimit(entry);
    return { blob, entry, isRead: limit !== undefined, fits: limit !== undefined && blob.size <= limit };
  });
  const lacking = entries.find(({ entry, isRead, blob }) => isRead && !mayLack && lacks(entry, blob));
  if (lacking) throw new GitFailure('refused', `the mirror lacks the blob ${lacking.blob.oid}`);
  const fitting = entries.filter(({ fits }) => fits).map(({ blob }) => blob);
  if (fitting.reduce((sum, { size }) => sum + size, 0) > factoryBytesMax) return undefined;
  const contents = await readBlobs(mirror, fitting);
  return entries.map(({ entry, blob, isRead }) =>
    isRead ? { ...entry, bytes: contents.get(blob.oid) ?? 'too-large' } : entry,
  );
}

/** Whether a fetch left out a blob that is no document: those may be of any size. */
function lacks({ path }: Entry, { size }: TreeEntry): boolean {
  const isDefinition = parseDefinitionName(posix.basename(path)) !== undefined;
  return size === Number.POSITIVE_INFINITY && (isDefinition || !/^(?:webhooks|automations)\//.test(path));
}

// A submodule is a commit; a symbolic link is a blob with mode 120000.
function getEntryKind({ type, mode }: TreeEntry): EntryKind {
  if (type === 'tree') return 'folder';
  if (type === 'commit') return 'submodule';
  if (type !== 'blob') return 'other';
  return mode === '120000' ? 'link' : 'file';
}
