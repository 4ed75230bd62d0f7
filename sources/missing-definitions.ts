import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Diagnostic } from '../schema/diagnostics.ts';
import { findNearest } from '../schema/text/suggestion.ts';
import { definitionFolders, isMeantAsDefinition } from './definition-files.ts';

const folders = Object.values(definitionFolders);

/** Finds folders whose names are nearly the names of definition folders, and says where definitions were looked for. */
export function findMissingDefinitions(directory: string, label: string, hasFiles: boolean): Diagnostic[] {
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
