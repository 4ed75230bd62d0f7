import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { promptBytesMax } from '../schema/definitions/automation-definition.ts';
import { definitionFilesMax, factoryBytesMax } from '../schema/factory-size.ts';
import type { DefinitionFiles, Entry } from './definitions.ts';
import {
  findGitRoot,
  isSubmodule,
  listFolder,
  type OpenFolder,
  useFolder,
  useFolderBelow,
} from './open-folder.ts';
import { findCrowd } from './oversize.ts';
import { collectPrompts, listPromptPaths } from './prompt-files.ts';
import { getBytesMax, isListedWhole, readEntries } from './read-entries.ts';
import { readRegularFile } from './regular-file.ts';

export interface ReadDirectoryOptions {
  /** Precedes file names in diagnostics; `''` for the current directory. */
  readonly label?: string;
  /** Also reads the fixtures of automations. */
  readonly withFixtures?: boolean;
}

/**
 * Reads the definitions in a directory. Only the command line reads directories, so synchronous reads block nobody.
 * Fails with the file system's error if the directory itself cannot be read.
 */
export function readDirectory(
  directory: string,
  { label = '', withFixtures = false }: ReadDirectoryOptions = {},
): DefinitionFiles {
  return useFolder(directory, root => {
    const entries = new Lister(listSubmodules(directory), withFixtures).list(root, '');
    const crowd = findCrowd(entries, label);
    if (crowd) return { files: [], diagnostics: [crowd] };
    const found = readEntries(entries, { label, place: directory });
    const paths = listPromptPaths(found.files);
    return { ...found, prompts: collectPrompts(paths, readPrompts(root, paths)) };
  });
}

class Lister {
  readonly #submodules: ReadonlySet<string>;
  readonly #withFixtures: boolean;
  #listed = 0;

  constructor(submodules: ReadonlySet<string>, withFixtures: boolean) {
    this.#submodules = submodules;
    this.#withFixtures = withFixtures;
  }

  /** Lists a folder; of the definitions directory, only what `isListedWhole` names with everything below. */
  list(folder: OpenFolder, prefix: string): Entry[] {
    return listFolder(folder).flatMap(({ name, kind }): Entry[] => {
      const path = `${prefix}${name}`;
      if (prefix === '') this.#listed = 0;
      else if (this.#listed++ > definitionFilesMax) return [];
      if (this.#submodules.has(path)) return [{ path, kind: 'submodule' }];
      if (kind === 'folder') {
        if (prefix === '' && !isListedWhole(name)) return [];
        return this.#listBelow(folder, name, path);
      }
      const bytesMax = getBytesMax({ path, kind }, this.#withFixtures);
      return [{ path, kind, ...(bytesMax !== undefined && readFile(folder, name, bytesMax)) }];
    });
  }

  #listBelow(folder: OpenFolder, name: string, path: string): Entry[] {
    try {
      const below = useFolderBelow(folder, name, inner => this.list(inner, `${path}/`));
      // Git has no empty folders. An empty definitions folder says that this is the right directory.
      const isKept = below.length > 0 || !path.includes('/');
      return isKept ? [{ path, kind: 'folder' }, ...below] : [];
    } catch (error) {
      return [{ path, kind: 'folder', bytes: getCode(error) }];
    }
  }
}

function readFile(folder: OpenFolder, name: string, bytesMax: number): Pick<Entry, 'kind' | 'bytes'> {
  try {
    const bytes = readRegularFile(join(folder.at, name), bytesMax);
    return bytes ? { kind: 'file', bytes } : { kind: 'other' };
  } catch (error) {
    return { kind: 'file', bytes: getCode(error) };
  }
}

function getCode(error: unknown): `E${string}` {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  return code as `E${string}`;
}

/** Reads prompt files, and the kinds of the folders on the way, until they are more than a factory may have. */
function* readPrompts(root: OpenFolder, paths: readonly string[]): Generator<Entry> {
  let bytes = 0;
  for (const path of paths) {
    for (const entry of readPrompt(root, path)) {
      yield entry;
      bytes += typeof entry.bytes === 'object' ? entry.bytes.length : 0;
    }
    if (bytes > factoryBytesMax) return;
  }
}

function readPrompt(folder: OpenFolder, path: string, prefix = ''): Entry[] {
  const [name = '', ...below] = path.slice(prefix.length).split('/');
  if (below.length === 0) return [{ path, ...readFile(folder, name, promptBytesMax) }];
  const at = `${prefix}${name}`;
  if (isSubmodule(folder, name)) return [{ path: at, kind: 'submodule' }];
  try {
    const inner = useFolderBelow(folder, name, opened => readPrompt(opened, path, `${at}/`));
    return [{ path: at, kind: 'folder' }, ...inner];
  } catch (error) {
    const code = getCode(error);
    const isFolder = code !== 'ENOTDIR' && code !== 'ELOOP';
    return isFolder ? [{ path, kind: 'file', bytes: code }] : [{ path: at, kind: 'other' }];
  }
}

/** @limit Bytes of .gitmodules that are read (1 MiB): thousands of submodules. */
const submodulesBytesMax = 1024 * 1024;

/** The submodules that the repository of a directory names. One that was not fetched is an empty folder. */
function listSubmodules(directory: string): ReadonlySet<string> {
  const root = findGitRoot(directory);
  if (root === undefined || !existsSync(join(root, '.gitmodules'))) return new Set();
  const inRoot = relative(root, directory).split(sep).join('/');
  const prefix = inRoot === '' ? '' : `${inRoot}/`;
  const bytes = readRegularFile(join(root, '.gitmodules'), submodulesBytesMax) ?? new Uint8Array();
  const found = Buffer.from(bytes)
    .toString()
    .matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm);
  const paths = [...found].map(([, path = '']) => path);
  return new Set(paths.filter(path => path.startsWith(prefix)).map(path => path.slice(prefix.length)));
}
