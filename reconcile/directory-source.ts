import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Diagnostic, DiagnosticCode } from '../schema/diagnostics.ts';
import { definitionBytesMax } from '../schema/limits.ts';
import type { DefinitionFile, DefinitionFiles, DefinitionKind } from './definitions.ts';

export const definitionNamePattern = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const definitionFolders: Readonly<Record<DefinitionKind, string>> = {
  webhook: 'webhooks',
  automation: 'automations',
};

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
  const name = nameOf(posix.basename(file));
  if (name === undefined) return refused(file, 'definition/file-name', fileNameMessage, fileNameHint);
  try {
    const bytes = readRegularFile(path);
    if (bytes) return { files: [{ kind, name, file, bytes }], diagnostics: [] };
    const message = 'a definition must be a regular file';
    return refused(file, 'definition/not-regular-file', message, 'put the file itself here, not a link');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return refused(file, 'yaml/unreadable', `the file cannot be read (${reason})`, 'check its permissions');
  }
}

function readFolder(directory: string, label: string, kind: DefinitionKind): DefinitionFiles {
  const folder = definitionFolders[kind];
  const files: DefinitionFile[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const entry of listFolder(join(directory, folder))) {
    // Hidden files are editors' and git's own.
    if (entry.name.startsWith('.') || isFixtures(entry, kind)) continue;
    const path = join(directory, folder, entry.name);
    const found = readDefinitionFile(path, posix.join(label, folder, entry.name), kind);
    files.push(...found.files);
    diagnostics.push(...found.diagnostics);
  }
  return { files, diagnostics };
}

function listFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function isFixtures(entry: Dirent, kind: DefinitionKind): boolean {
  return kind === 'automation' && entry.isDirectory() && entry.name.endsWith('.fixtures');
}

const fileNameMessage = 'not the name of a definition file';
const fileNameHint = 'name it <name>.yaml: lower case letters, digits and -, at most 63, the first not -';

function nameOf(fileName: string): string | undefined {
  if (!fileName.endsWith('.yaml')) return undefined;
  const name = fileName.slice(0, -'.yaml'.length);
  return definitionNamePattern.test(name) ? name : undefined;
}

/** Undefined for what is no regular file: neither a link is followed nor a FIFO waited for. */
function readRegularFile(path: string): Uint8Array | undefined {
  const descriptor = openNoFollow(path);
  if (descriptor === undefined) return undefined;
  try {
    if (!fstatSync(descriptor).isFile()) return undefined;
    // One byte over the bound is enough to tell that the file is too large.
    const buffer = Buffer.allocUnsafe(definitionBytesMax + 1);
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, buffer, length, buffer.length - length, null);
      length += read;
      if (read === 0 || length === buffer.length) return buffer.subarray(0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

function openNoFollow(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ELOOP: a symbolic link. ENXIO: a socket or a device without a driver.
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'EMLINK') return undefined;
    throw error;
  }
}

function refused(file: string, code: DiagnosticCode, message: string, hint: string): DefinitionFiles {
  return { files: [], diagnostics: [{ code, severity: 'error', message, file, hint }] };
}
