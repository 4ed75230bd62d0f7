import { lstatSync, statSync } from 'node:fs';
import { basename, dirname, join, posix, resolve } from 'node:path';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import {
  type DefinitionFiles,
  type DefinitionKind,
  type Definitions,
  definitionFolders,
} from '../../sources/definitions.ts';
import {
  listWebhookNames,
  readDefinitionFile,
  readDirectory,
  readPrompts,
} from '../../sources/directory-source.ts';
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
 * their directory. Any other path is wrong usage.
 */
export function loadPaths(directory: string, paths: readonly string[]): LoadedFactory[] {
  const byDirectory = new Map<string, DefinitionFiles>();
  const labels = new Map<string, string>();
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const label = posix.normalize(path).replace(/(?<=.)\/+$/, '');
    const absolute = resolve(directory, path);
    const isDirectory = isDirectoryAt(absolute, path);
    const prefix = label === '.' ? '' : label;
    // Somebody named the folder in it.
    if (isDirectory && Object.values(definitionFolders).includes(basename(absolute))) throw refusePath(label);
    const factoryDirectory = isDirectory ? absolute : dirname(dirname(absolute));
    const found = isDirectory
      ? readDirectory(absolute, prefix)
      : {
          ...readPrompts(factoryDirectory, readOne(absolute, label)),
          otherWebhooks: listWebhookNames(factoryDirectory),
        };
    if (isDirectory) labels.set(absolute, prefix);
    const before = byDirectory.get(factoryDirectory);
    byDirectory.set(factoryDirectory, before ? merge(before, found) : found);
  }
  return [...byDirectory].map(([factoryDirectory, files]) => {
    const definitions = parseDefinitions(files);
    const label = labels.get(factoryDirectory);
    if (label === undefined) return { definitions, fixtures: [] };
    const fixtures = runFixtures(factoryDirectory, label, definitions.automations);
    return { definitions, fixtures, workspace: readWorkspace(factoryDirectory, label) };
  });
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

function readOne(absolute: string, label: string): DefinitionFiles {
  const folder = basename(dirname(absolute));
  const kinds = Object.keys(definitionFolders) as DefinitionKind[];
  const kind = kinds.find(kind => definitionFolders[kind] === folder);
  if (kind) return readDefinitionFile(absolute, label, kind);
  throw refusePath(label);
}

function refusePath(label: string): UsageError {
  const hint =
    'a definitions directory has the folder webhooks or automations, which contain definition files';
  return new UsageError(`${label}: neither a definition file nor a definitions directory; ${hint}`);
}

/** Merges files of one factory. A file that is named twice, or together with its directory, counts once. */
function merge(a: DefinitionFiles, b: DefinitionFiles): DefinitionFiles {
  const known = new Set(a.files.map(({ kind, name }) => join(kind, name)));
  return {
    otherWebhooks: [...(a.otherWebhooks ?? []), ...(b.otherWebhooks ?? [])],
    files: [...a.files, ...b.files.filter(({ kind, name }) => !known.has(join(kind, name)))],
    diagnostics: [...a.diagnostics, ...b.diagnostics],
    prompts: new Map([...(a.prompts ?? []), ...(b.prompts ?? [])]),
  };
}
