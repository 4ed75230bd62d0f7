import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, posix, resolve } from 'node:path';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { type Definitions, definitionFolders } from '../../sources/definitions.ts';
import { readDirectory } from '../../sources/directory-source.ts';
import { type FixtureResult, runFixtures } from '../../sources/fixtures.ts';
import { parseDefinitions } from '../../sources/parse-definitions.ts';
import { UsageError } from '../exit-status.ts';
import { readWorkspace, type WorkspaceFile } from './workspace-file.ts';

/** A factory as `validate` checks it: its definitions, and the fixtures beside its automations. */
export interface LoadedFactory {
  readonly definitions: Definitions;
  readonly fixtures: readonly FixtureResult[];
  /** hookmill.yaml, if the factory was given as a directory. */
  readonly workspace?: WorkspaceFile;
}

/**
 * Loads the definitions at the paths. Each directory is a factory; single definition files belong to the factory of
 * their directory, of which only their own mistakes count. Any other path is wrong usage.
 */
export function loadPaths(directory: string, paths: readonly string[]): LoadedFactory[] {
  const named = (paths.length === 0 ? ['.'] : paths).map(path => findPath(directory, path));
  const byFactory = Map.groupBy(named, ({ factoryDirectory }) => factoryDirectory);
  return [...byFactory].map(([factoryDirectory, found]) => {
    const whole = found.find(({ file }) => file === undefined);
    const { label } = whole ?? found[0] ?? { label: '' };
    const files = readDirectory(factoryDirectory, { label, withFixtures: whole !== undefined });
    const definitions = parseDefinitions(files);
    if (!whole) return { definitions: pickFiles(definitions, found), fixtures: [] };
    const fixtures = runFixtures(files, definitions.automations);
    return { definitions, fixtures, workspace: readWorkspace(factoryDirectory, label) };
  });
}

interface NamedPath {
  readonly factoryDirectory: string;
  /** Precedes the names of the factory's files in diagnostics. */
  readonly label: string;
  /** The definition file that was named, as diagnostics name it; undefined for a directory. */
  readonly file?: string;
}

function findPath(directory: string, path: string): NamedPath {
  const label = posix.normalize(path).replace(/(?<=.)\/+$/, '');
  const absolute = resolve(directory, path);
  const isFolder = (at: string) => Object.values(definitionFolders).includes(basename(at));
  if (isDirectoryAt(absolute, path)) {
    // Somebody named the folder in it.
    if (isFolder(absolute)) throw refusePath(label);
    return { factoryDirectory: absolute, label: label === '.' ? '' : label };
  }
  const folder = dirname(absolute);
  if (!isFolder(folder)) throw refusePath(label);
  const parent = posix.join(label, '../..');
  const factoryLabel = parent === '.' ? '' : parent;
  const file = posix.join(factoryLabel, basename(folder), basename(absolute));
  return { factoryDirectory: dirname(folder), label: factoryLabel, file };
}

/** Keeps what concerns the files that were named. */
function pickFiles(definitions: Definitions, named: readonly NamedPath[]): Definitions {
  const files = new Set(named.map(({ file }) => file));
  const diagnostics = definitions.diagnostics.filter(({ file }) => files.has(file));
  return { ...definitions, diagnostics, fileCount: files.size };
}

/** Reports directories of one factory: an apply of one would destroy what the other defines. Without a name, it is `default`. */
export function findSharedFactories(factories: readonly LoadedFactory[]): Diagnostic[] {
  const named = factories.flatMap(({ workspace }) =>
    workspace?.definition ? [{ ...workspace, name: workspace.definition.factory ?? 'default' }] : [],
  );
  const byName = Map.groupBy(named, ({ name }) => name);
  return named.flatMap(({ file, name }) => {
    const other = byName.get(name)?.find(other => other.file !== file);
    if (!other) return [];
    const message = `${posix.dirname(other.file)} is the factory ${name} too: an apply of one destroys what the other defines`;
    const hint = 'write `factory: NAME` in one hookmill.yaml, with another name';
    return [{ code: 'factory/duplicate', severity: 'error', message, file, hint }];
  });
}

function isDirectoryAt(absolute: string, path: string): boolean {
  if (!lstatSync(absolute, { throwIfNoEntry: false })) {
    throw new UsageError(`${path}: no such file or directory`);
  }
  return statSync(absolute, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function refusePath(label: string): UsageError {
  const hint =
    'a definitions directory has the folder webhooks or automations, which contain definition files';
  return new UsageError(`${label}: neither a definition file nor a definitions directory; ${hint}`);
}
