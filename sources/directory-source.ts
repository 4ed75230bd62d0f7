import { type Dirent, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { definitionBytesMax } from '../schema/definitions/yaml-source.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';
import {
  definitionFolders,
  definitionNameOf,
  isNoDefinition,
  misnamed,
  notRegularFile,
  refused,
} from './definition-file-name.ts';
import type { DefinitionFile, DefinitionFiles, DefinitionKind } from './definition-files.ts';
import { readRegularFile } from './regular-file.ts';

/**
 * The definition files of a directory. `label` is put before file names in diagnostics (`''` for the current
 * directory). Only the command line reads directories, one after the other, so plain synchronous reads serve best.
 */
export function readDirectory(directory: string, label = ''): DefinitionFiles {
  const found = (['webhook', 'automation'] as const).map(kind => readFolder(directory, label, kind));
  return {
    files: found.flatMap(({ files }) => files),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** One definition file, or what is wrong with it. `file` is its name in diagnostics. */
export function readDefinitionFile(path: string, file: string, kind: DefinitionKind): DefinitionFiles {
  const name = definitionNameOf(posix.basename(file));
  if (name === undefined) return misnamed(file);
  try {
    const bytes = readRegularFile(path, definitionBytesMax);
    if (bytes) return { files: [{ kind, name, file, bytes }], diagnostics: [] };
    return notRegularFile(file);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return refused(file, 'yaml/unreadable', `the file cannot be read (${reason})`, 'check its permissions');
  }
}

function readFolder(directory: string, label: string, kind: DefinitionKind): DefinitionFiles {
  const folder = definitionFolders[kind];
  const files: DefinitionFile[] = [];
  const diagnostics: Diagnostic[] = [];
  let entries: Dirent[];
  try {
    entries = readdirSync(join(directory, folder), { withFileTypes: true });
  } catch (error) {
    return noFolder(posix.join(label, folder), error as NodeJS.ErrnoException);
  }
  for (const entry of entries) {
    if (isNoDefinition(kind, entry.name, entry.isDirectory())) continue;
    const path = join(directory, folder, entry.name);
    const file = posix.join(label, folder, entry.name);
    const found = entry.isDirectory() ? notRegularFile(file) : readDefinitionFile(path, file, kind);
    files.push(...found.files);
    diagnostics.push(...found.diagnostics);
  }
  return { files, diagnostics };
}

/** A factory need not have each kind of definition. */
function noFolder(folder: string, { code }: NodeJS.ErrnoException): DefinitionFiles {
  if (code === 'ENOENT') return { files: [], diagnostics: [] };
  const hint =
    code === 'ENOTDIR' ? 'a file stands where the folder of definitions belongs' : 'check its permissions';
  return refused(folder, 'yaml/unreadable', `the folder cannot be read (${code})`, hint);
}
