import { posix } from 'node:path';
import { definitionBytesMax } from '../../schema/definitions/yaml-source.ts';
import {
  definitionFolders,
  definitionNameOf,
  isNoDefinition,
  misnamed,
  notRegularFile,
  refused,
} from '../definition-file-name.ts';
import type { DefinitionFile, DefinitionFiles, DefinitionKind } from '../definition-files.ts';
import { GitFailure } from './git/git-failure.ts';
import type { GitMirror } from './git/git-mirror.ts';
import { listTree, readBlobs, renamedFiles, type TreeEntry } from './git/git-objects.ts';

/**
 * The definition files of a commit below `path`, as blobs: there is no work tree, so nothing is followed or run.
 * Unless a blob may be lacking because it is too large, one that is lacking is a `GitFailure`.
 */
export async function readRevision(
  mirror: GitMirror,
  revision: string,
  path: string,
  mayLack: boolean,
): Promise<DefinitionFiles> {
  const kinds = ['webhook', 'automation'] as const;
  const folders = await listTree(
    mirror,
    revision,
    kinds.map(kind => folderPath(path, kind)),
  );
  const found = await Promise.all(
    kinds.map(kind => {
      const folder = folders.find(entry => entry.path === folderPath(path, kind));
      return folder ? readFolder(mirror, folder, kind, mayLack) : { files: [], diagnostics: [] };
    }),
  );
  return {
    files: found.flatMap(({ files }) => files),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** Definitions of the kind whose file has another name in the later commit, by their names. */
export async function renamedDefinitions(
  mirror: GitMirror,
  kind: DefinitionKind,
  before: { readonly revision: string; readonly path: string },
  after: { readonly revision: string; readonly path: string },
): Promise<{ readonly from: string; readonly to: string }[]> {
  const [from, to] = await Promise.all(
    [before, after].map(async ({ revision, path }) => {
      const [folder] = await listTree(mirror, revision, [folderPath(path, kind)]);
      return folder?.type === 'tree' ? folder.oid : undefined;
    }),
  );
  if (!from || !to) return [];
  return (await renamedFiles(mirror, from, to)).flatMap(file => {
    const names = { from: definitionNameOf(file.from), to: definitionNameOf(file.to) };
    return names.from && names.to ? [{ from: names.from, to: names.to }] : [];
  });
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
    return refused(folder.path, 'definition/not-regular-file', message, hint);
  }
  const entries = (await listTree(mirror, folder.oid)).filter(
    ({ type, path: name }) => !isNoDefinition(kind, name, type === 'tree'),
  );
  const lacking = entries.find(
    ({ path, size }) => size === Number.POSITIVE_INFINITY && definitionNameOf(path) !== undefined,
  );
  if (lacking && !mayLack) throw new GitFailure('refused', `the mirror has no blob ${lacking.oid}`);
  const contents = await readBlobs(mirror, entries.filter(isDefinition));
  const results = entries.map(entry =>
    definitionIn(entry, posix.join(folder.path, entry.path), kind, contents.get(entry.oid)),
  );
  return {
    files: results.flatMap(({ files }) => files),
    diagnostics: results.flatMap(({ diagnostics }) => diagnostics),
  };
}

function folderPath(path: string, kind: DefinitionKind): string {
  return posix.join(path, definitionFolders[kind]);
}

// A submodule is a commit, a symbolic link a blob of the mode 120000.
function isRegularFile({ type, mode }: TreeEntry): boolean {
  return type === 'blob' && (mode === '100644' || mode === '100755');
}

function isDefinition(entry: TreeEntry): boolean {
  return (
    isRegularFile(entry) && definitionNameOf(entry.path) !== undefined && entry.size <= definitionBytesMax
  );
}

function definitionIn(
  entry: TreeEntry,
  file: string,
  kind: DefinitionKind,
  bytes: Uint8Array | undefined,
): DefinitionFiles {
  const name = definitionNameOf(entry.path);
  if (name === undefined) return misnamed(file);
  if (!isRegularFile(entry)) return notRegularFile(file);
  if (!bytes) {
    const message = `the file is larger than ${definitionBytesMax} bytes`;
    return refused(file, 'yaml/too-large', message, 'split it up');
  }
  const definition: DefinitionFile = { kind, name, file, bytes };
  return { files: [definition], diagnostics: [] };
}
