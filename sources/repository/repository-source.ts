import { posix } from 'node:path';
import { promptBytesMax } from '../../schema/definitions/automation-definition.ts';
import type { FoundPrompt } from '../../schema/definitions/prompts.ts';
import { definitionBytesMax, diagnoseTooLarge } from '../../schema/definitions/yaml-source.ts';
import { definitionFilesMax } from '../../schema/factory-size.ts';
import {
  type DefinitionFiles,
  type DefinitionKind,
  definitionFolders,
  definitionKinds,
  isIgnored,
  mergeFiles,
  parseDefinitionName,
  rejectFile,
  rejectIrregularFile,
  rejectName,
} from '../definitions.ts';
import { describeCrowd } from '../oversize.ts';
import { listPromptPaths } from '../prompt-files.ts';
import { GitFailure } from './git/git-command.ts';
import type { GitMirror } from './git/git-mirror.ts';
import { listTree, readBlobs, type TreeEntry } from './git/git-objects.ts';

/** @limit Prompt files that one git command lists: its arguments have at most about 100 KB. */
const listedPromptsMax = 500;

/**
 * Reads the definition files of a commit below `path`, and the prompt files that they name, as blobs. Without a work
 * tree, no link is followed and nothing is executed. A missing blob is a `GitFailure`, unless `mayLack` says that large
 * blobs were not fetched.
 */
export async function readRevision(
  mirror: GitMirror,
  revision: string,
  path: string,
  mayLack: boolean,
): Promise<DefinitionFiles> {
  const folders = await listTree(
    mirror,
    revision,
    definitionKinds.map(kind => toFolderPath(path, kind)),
  );
  const found = await Promise.all(
    definitionKinds.map(kind => {
      const folder = folders.find(entry => entry.path === toFolderPath(path, kind));
      return folder ? readFolder(mirror, folder, kind, mayLack) : { files: [], diagnostics: [] };
    }),
  );
  const files = mergeFiles(found);
  return { ...files, prompts: await readPrompts(mirror, revision, path, files, mayLack) };
}

/** Reads the prompt files that automations name. One behind a link is missing: git follows none. */
async function readPrompts(
  mirror: GitMirror,
  revision: string,
  path: string,
  { files }: DefinitionFiles,
  mayLack: boolean,
): Promise<ReadonlyMap<string, FoundPrompt>> {
  const paths = listPromptPaths(files);
  const entries = new Map<string, TreeEntry>();
  for (let from = 0; from < paths.length; from += listedPromptsMax) {
    const listed = paths.slice(from, from + listedPromptsMax).map(prompt => posix.join(path, prompt));
    for (const entry of await listTree(mirror, revision, listed)) entries.set(entry.path, entry);
  }
  const isReadable = (entry: TreeEntry) => isRegularFile(entry) && entry.size <= promptBytesMax;
  requireBlobs([...entries.values()], mayLack);
  const contents = await readBlobs(mirror, [...entries.values()].filter(isReadable));
  return new Map(
    paths.map((prompt): [string, FoundPrompt] => {
      const entry = entries.get(posix.join(path, prompt));
      if (!entry) return [prompt, 'missing'];
      if (!isRegularFile(entry)) return [prompt, 'irregular'];
      return [prompt, contents.get(entry.oid) ?? 'too-large'];
    }),
  );
}

/** Fails if a blob was not fetched, unless it may lack because of its size. */
function requireBlobs(entries: readonly TreeEntry[], mayLack: boolean): void {
  const lacking = entries.find(({ size }) => size === Number.POSITIVE_INFINITY);
  if (lacking && !mayLack) throw new GitFailure('refused', `the mirror lacks the blob ${lacking.oid}`);
}

async function readFolder(
  mirror: GitMirror,
  folder: TreeEntry,
  kind: DefinitionKind,
  mayLack: boolean,
): Promise<DefinitionFiles> {
  if (folder.type !== 'tree') {
    const message = `${definitionFolders[kind]} must be a folder`;
    const hint = 'put the folder itself here, not a link';
    return rejectFile(folder.path, 'definition/not-regular-file', message, hint);
  }
  const listed = await listTree(mirror, folder.oid);
  if (listed.length > definitionFilesMax) {
    return { files: [], diagnostics: [describeCrowd(folder.path, listed.length)] };
  }
  const entries = listed.filter(({ type, path: name }) => !isIgnored(kind, name, type === 'tree'));
  requireBlobs(
    entries.filter(({ path }) => parseDefinitionName(path) !== undefined),
    mayLack,
  );
  const contents = await readBlobs(mirror, entries.filter(isDefinition));
  const results = entries.map(entry =>
    toDefinitionFile(entry, posix.join(folder.path, entry.path), kind, contents.get(entry.oid)),
  );
  return mergeFiles(results);
}

function toFolderPath(path: string, kind: DefinitionKind): string {
  return posix.join(path, definitionFolders[kind]);
}

// A submodule is a commit; a symbolic link is a blob with mode 120000.
function isRegularFile({ type, mode }: TreeEntry): boolean {
  return type === 'blob' && (mode === '100644' || mode === '100755');
}

function isDefinition(entry: TreeEntry): boolean {
  return (
    isRegularFile(entry) && parseDefinitionName(entry.path) !== undefined && entry.size <= definitionBytesMax
  );
}

function toDefinitionFile(
  entry: TreeEntry,
  file: string,
  kind: DefinitionKind,
  bytes: Uint8Array | undefined,
): DefinitionFiles {
  const name = parseDefinitionName(entry.path);
  if (name === undefined) return rejectName(file);
  if (!isRegularFile(entry)) return rejectIrregularFile(file);
  if (!bytes) return { files: [], diagnostics: [diagnoseTooLarge(file)] };
  return { files: [{ kind, name, file, bytes }], diagnostics: [] };
}
