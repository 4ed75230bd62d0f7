import { type Dirent, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { definitionBytesMax } from '../schema/definitions/yaml-source.ts';
import { definitionFilesMax } from '../schema/factory-size.ts';
import {
  definitionFolders,
  isIgnored,
  parseDefinitionName,
  rejectFile,
  rejectIrregularFile,
  rejectName,
} from './definition-file-name.ts';
import {
  type DefinitionFiles,
  type DefinitionKind,
  definitionKinds,
  mergeFiles,
} from './definition-files.ts';
import { findMissingDefinitions } from './missing-definitions.ts';
import { describeCrowd } from './oversize.ts';
import { readRegularFile } from './regular-file.ts';

/**
 * Reads the definition files of a directory. `label` precedes file names in diagnostics (`''` for the current
 * directory). Only the command line reads directories, so synchronous reads block nobody.
 */
export function readDirectory(directory: string, label = ''): DefinitionFiles {
  const found = mergeFiles(definitionKinds.map(kind => readFolder(directory, label, kind)));
  const hasFiles = found.files.length + found.diagnostics.length > 0;
  const missing = findMissingDefinitions(directory, label, hasFiles);
  return mergeFiles([found, { files: [], diagnostics: missing }]);
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
