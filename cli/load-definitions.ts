import { lstatSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import {
  type DefinitionFiles,
  type DefinitionKind,
  type Definitions,
  parseDefinitions,
} from '../reconcile/definitions.ts';
import { definitionFolders, readDefinitionFile, readDirectory } from '../reconcile/directory-source.ts';
import { CommandError, exitStatus } from './exit-status.ts';

/** The definitions of the context's directory, named as seen from there. */
export function loadDirectory(directory: string): Definitions {
  return parseDefinitions(readDirectory(directory));
}

/**
 * The definitions at the paths, a factory's for each directory; definition files given by themselves are taken
 * together, by the directory that they lie in. A path that is neither is wrong usage.
 */
export function loadPaths(directory: string, paths: readonly string[]): Definitions[] {
  if (paths.length === 0) return [loadDirectory(directory)];
  const byDirectory = new Map<string, DefinitionFiles>();
  for (const path of paths) {
    const label = posix.normalize(path).replace(/(?<=.)\/+$/, '');
    const absolute = resolve(directory, path);
    const isDirectory = statPath(absolute, path).isDirectory();
    const found = isDirectory
      ? readDirectory(absolute, label === '.' ? '' : label)
      : readOne(absolute, label);
    const factoryDirectory = isDirectory ? absolute : dirname(dirname(absolute));
    const before = byDirectory.get(factoryDirectory);
    byDirectory.set(factoryDirectory, before ? merge(before, found) : found);
  }
  return [...byDirectory.values()].map(parseDefinitions);
}

function statPath(absolute: string, path: string) {
  const stats = lstatSync(absolute, { throwIfNoEntry: false });
  if (!stats) throw new CommandError(`${path}: there is no such file or directory`, exitStatus.usage);
  return stats;
}

function readOne(absolute: string, label: string): DefinitionFiles {
  const folder = basename(dirname(absolute));
  const kinds = Object.keys(definitionFolders) as DefinitionKind[];
  const kind = kinds.find(kind => definitionFolders[kind] === folder);
  if (kind) return readDefinitionFile(absolute, label, kind);
  const hint = 'a definition file lies in a folder webhooks or automations';
  throw new CommandError(
    `${label}: neither a definition file nor a definitions directory; ${hint}`,
    exitStatus.usage,
  );
}

/** A file that is named twice, or beside its directory, is one file. */
function merge(a: DefinitionFiles, b: DefinitionFiles): DefinitionFiles {
  const known = new Set(a.files.map(({ kind, name }) => join(kind, name)));
  return {
    files: [...a.files, ...b.files.filter(({ kind, name }) => !known.has(join(kind, name)))],
    diagnostics: [...a.diagnostics, ...b.diagnostics],
  };
}
