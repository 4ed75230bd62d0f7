import { lstatSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { definitionFolders } from '../reconcile/definition-file-name.ts';
import {
  type DefinitionFiles,
  type DefinitionKind,
  type Definitions,
  parseDefinitions,
} from '../reconcile/definitions.ts';
import { readDefinitionFile, readDirectory } from '../reconcile/directory-source.ts';
import { type FixtureResult, runFixtures } from '../reconcile/fixtures.ts';
import { CommandError, exitStatus } from './exit-status.ts';

/** The definitions of the context's directory, named as seen from there. */
export function loadDirectory(directory: string): Definitions {
  return parseDefinitions(readDirectory(directory));
}

/** What `validate` looks at: a factory's definitions, with the fixtures beside its automations. */
export interface LoadedFactory {
  readonly definitions: Definitions;
  readonly fixtures: readonly FixtureResult[];
}

/**
 * The definitions at the paths, a factory's for each directory; definition files given by themselves are taken
 * together, by the directory that they lie in. A path that is neither is wrong usage.
 */
export function loadPaths(directory: string, paths: readonly string[]): LoadedFactory[] {
  const byDirectory = new Map<string, DefinitionFiles>();
  const labels = new Map<string, string>();
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const label = posix.normalize(path).replace(/(?<=.)\/+$/, '');
    const absolute = resolve(directory, path);
    const isDirectory = statPath(absolute, path).isDirectory();
    const prefix = label === '.' ? '' : label;
    const found = isDirectory ? readDirectory(absolute, prefix) : readOne(absolute, label);
    const factoryDirectory = isDirectory ? absolute : dirname(dirname(absolute));
    if (isDirectory) labels.set(absolute, prefix);
    const before = byDirectory.get(factoryDirectory);
    byDirectory.set(factoryDirectory, before ? merge(before, found) : found);
  }
  return [...byDirectory].map(([factoryDirectory, files]) => {
    const definitions = parseDefinitions(files);
    const label = labels.get(factoryDirectory);
    const fixtures = label === undefined ? [] : runFixtures(factoryDirectory, label, definitions.automations);
    return { definitions, fixtures };
  });
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
