import { type Dirent, existsSync, readdirSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import { promptBytesMax } from '../schema/definitions/automation-definition.ts';
import type { FoundPrompt } from '../schema/definitions/prompts.ts';
import { definitionBytesMax } from '../schema/definitions/yaml-source.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { definitionFilesMax, factoryBytesMax } from '../schema/factory-size.ts';
import { findNearest } from '../schema/text/suggestion.ts';
import {
  type DefinitionFiles,
  type DefinitionKind,
  definitionFolders,
  definitionKinds,
  isIgnored,
  isMeantAsDefinition,
  mergeFiles,
  parseDefinitionName,
  rejectFile,
  rejectIrregularFile,
  rejectName,
} from './definitions.ts';
import { describeCrowd } from './oversize.ts';
import { listPromptPaths } from './prompt-files.ts';
import { readRegularFile } from './regular-file.ts';

/**
 * Reads the definition files of a directory. `label` precedes file names in diagnostics (`''` for the current
 * directory). Only the command line reads directories, so synchronous reads block nobody.
 */
export function readDirectory(directory: string, label = ''): DefinitionFiles {
  const found = mergeFiles(definitionKinds.map(kind => readFolder(directory, label, kind)));
  const hasFiles = found.files.length + found.diagnostics.length > 0;
  const missing = findMissingDefinitions(directory, label, hasFiles);
  return mergeFiles([readPrompts(directory, found), { files: [], diagnostics: missing }]);
}

/** Reads the prompt files that automations of a definitions directory name, until they are more than a factory may have. */
export function readPrompts(directory: string, found: DefinitionFiles): DefinitionFiles {
  const prompts = new Map<string, FoundPrompt>();
  let bytes = 0;
  for (const path of listPromptPaths(found.files)) {
    const prompt = readPrompt(directory, path);
    prompts.set(path, prompt);
    if (typeof prompt !== 'string') bytes += prompt.length;
    if (bytes > factoryBytesMax) break;
  }
  return { ...found, prompts };
}

function readPrompt(directory: string, path: string): FoundPrompt {
  try {
    // A link on the way could lead out of the directory.
    if (realpathSync(join(directory, path)) !== join(realpathSync(directory), path)) return 'irregular';
    return readRegularFile(join(directory, path), promptBytesMax) ?? 'irregular';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable';
  }
}

/** Lists the webhooks of a definitions directory by the names of their files, without reading them. */
export function listWebhookNames(directory: string): string[] {
  try {
    return readdirSync(join(directory, definitionFolders.webhook)).flatMap(
      fileName => parseDefinitionName(fileName) ?? [],
    );
  } catch {
    // There is no folder, or it cannot be read; to validate its files reports that.
    return [];
  }
}

/** Reads one definition file. `file` is its name in diagnostics. */
export function readDefinitionFile(path: string, file: string, kind: DefinitionKind): DefinitionFiles {
  const name = parseDefinitionName(posix.basename(file));
  if (name === undefined) return rejectName(file);
  try {
    const bytes = readRegularFile(path, definitionBytesMax);
    if (bytes) return { files: [{ kind, name, file, bytes }], diagnostics: [] };
    return rejectIrregularFile(file);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return rejectFile(
      file,
      'yaml/unreadable',
      `the file cannot be read (${reason})`,
      'check its permissions',
    );
  }
}

function readFolder(directory: string, label: string, kind: DefinitionKind): DefinitionFiles {
  const folder = definitionFolders[kind];
  let entries: Dirent[];
  try {
    entries = readdirSync(join(directory, folder), { withFileTypes: true });
  } catch (error) {
    return rejectFolder(posix.join(label, folder), error as NodeJS.ErrnoException);
  }
  if (entries.length > definitionFilesMax) {
    return { files: [], diagnostics: [describeCrowd(posix.join(label, folder), entries.length)] };
  }
  const meant = entries.filter(entry => !isIgnored(kind, entry.name, entry.isDirectory()));
  return mergeFiles(
    meant.map(entry => {
      const file = posix.join(label, folder, entry.name);
      if (entry.isDirectory()) return rejectIrregularFile(file);
      return readDefinitionFile(join(directory, folder, entry.name), file, kind);
    }),
  );
}

/** A missing folder is not an error: a factory may have only one kind of definition. */
function rejectFolder(folder: string, { code }: NodeJS.ErrnoException): DefinitionFiles {
  if (code === 'ENOENT') return { files: [], diagnostics: [] };
  const hint = code === 'ENOTDIR' ? 'a file is in place of the folder' : 'check its permissions';
  return rejectFile(folder, 'yaml/unreadable', `the folder cannot be read (${code})`, hint);
}

const folders = Object.values(definitionFolders);

/** Finds folders whose names are nearly the names of definition folders, and says where definitions were looked for. */
function findMissingDefinitions(directory: string, label: string, hasFiles: boolean): Diagnostic[] {
  const misnamed = findMisnamedFolders(directory);
  if (!hasFiles) return [describeNone(directory, label, misnamed)];
  return misnamed.map(({ name, meant }) => ({
    code: 'definition/folder-name',
    severity: 'warning',
    message: `the definitions in ${name}/ are ignored`,
    file: posix.join(label, name),
    hint: `move them to ${meant}/`,
  }));
}

interface MisnamedFolder {
  readonly name: string;
  readonly meant: string;
}

/**
 * Reports an error if the directory is probably the wrong one, a warning if the last definition may have been removed.
 */
function describeNone(directory: string, label: string, [misnamed]: readonly MisnamedFolder[]): Diagnostic {
  const isDefinitionsDirectory = folders.some(folder => existsSync(join(directory, folder)));
  const places = folders.map(folder => `${folder}/`).join(' and ');
  const hint = misnamed
    ? `rename ${misnamed.name}/ to ${misnamed.meant}/`
    : 'write webhooks/<name>.yaml, or name the definitions directory with -C';
  return {
    code: 'factory/no-definitions',
    severity: isDefinitionsDirectory && !misnamed ? 'warning' : 'error',
    message: `no definitions found in ${places} of ${directory}`,
    file: posix.join(label, definitionFolders.webhook),
    hint,
  };
}

function findMisnamedFolders(directory: string): MisnamedFolder[] {
  return listDirectories(directory).flatMap(name => {
    const meant = folders.includes(name) ? undefined : findNearest(name, folders);
    return meant !== undefined && holdsYaml(join(directory, name)) ? { name, meant } : [];
  });
}

function listDirectories(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter(entry => entry.isDirectory()).map(({ name }) => name);
  } catch {
    // Reading the definitions reports this error.
    return [];
  }
}

function holdsYaml(folder: string): boolean {
  try {
    return readdirSync(folder).some(isMeantAsDefinition);
  } catch {
    return false;
  }
}
