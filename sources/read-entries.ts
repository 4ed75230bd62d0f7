import { posix } from 'node:path';
import { definitionBytesMax, parseYaml } from '../schema/definitions/yaml-source.ts';
import type { Diagnostic, DiagnosticCode } from '../schema/diagnostics.ts';
import { namePattern, nameRule } from '../schema/names.ts';
import { findNearest } from '../schema/text/suggestion.ts';
import {
  type AsideFile,
  type DefinitionFile,
  type DefinitionFiles,
  type DefinitionKind,
  definitionFolders,
  definitionKinds,
  type Entry,
  parseDefinitionName,
} from './definitions.ts';

/** @limit Largest fixture, in bytes: the largest payload of a delivery, and as much again around it. */
export const fixtureBytesMax = 2 * 262_144;

const folders = Object.values(definitionFolders);

/** How a reader's diagnostics name places. */
interface Naming {
  /** Precedes file names; `''` for none. */
  readonly label: string;
  /** The definitions directory, to say that it has no definitions. Without it, nothing is said of that. */
  readonly place?: string;
}

/**
 * Finds the definitions among the entries of a definitions directory, in whatever source. Each entry of a definitions
 * folder is a definition, or may stand there, or is an error: what was ignored would be destroyed. The entries are those
 * of the directory itself, and everything below each that `isListedWhole` names.
 */
export function readEntries(entries: readonly Entry[], { label, place }: Naming): DefinitionFiles {
  const found = definitionKinds.map(kind => readFolder(entries, kind));
  const files = found.flatMap(folder => folder.files);
  const misnamed = findMisnamedFolders(entries);
  const diagnostics = found.flatMap(folder => folder.diagnostics);
  if (files.length > 0 || place === undefined) diagnostics.push(...misnamed.map(diagnoseMisnamed));
  else if (diagnostics.length === 0) diagnostics.push(describeNone(entries, place, misnamed));
  const inMisnamed = misnamed.flatMap(({ below }) => below.flatMap(entry => toAside(entry) ?? []));
  const name = <T extends { readonly file: string }>(one: T): T => {
    return { ...one, file: posix.join(label, one.file) };
  };
  return {
    files: files.map(name),
    asides: [...found.flatMap(folder => folder.asides), ...inMisnamed].map(name),
    fixtures: found.flatMap(folder => folder.fixtures).map(name),
    diagnostics: diagnostics.map(name),
  };
}

interface ReadFolder extends Required<Pick<DefinitionFiles, 'asides' | 'fixtures'>> {
  readonly files: readonly DefinitionFile[];
  readonly diagnostics: Diagnostic[];
}

function readFolder(entries: readonly Entry[], kind: DefinitionKind): ReadFolder {
  const folder = definitionFolders[kind];
  const itself = entries.find(({ path }) => path === folder);
  const below = entries.filter(({ path }) => path.startsWith(`${folder}/`));
  const refusal = itself && refuseFolder(itself);
  if (refusal) return { files: [], asides: [], fixtures: [], diagnostics: [refusal] };
  const read = below.map(entry => readEntry(entry, kind));
  return {
    files: read.flatMap(({ file }) => file ?? []),
    asides: read.flatMap(({ aside }) => aside ?? []),
    fixtures: read.flatMap(({ fixture }) => fixture ?? []),
    diagnostics: read.flatMap(({ diagnostic }) => diagnostic ?? []),
  };
}

/** The error of a folder of which nothing can be read. */
function refuseFolder({ path, kind, bytes }: Entry): Diagnostic | undefined {
  if (typeof bytes === 'string') return diagnoseUnreadable(path, 'folder', bytes);
  if (kind === 'file')
    return toError(path, 'yaml/unreadable', `${path} must be a folder`, 'a file is in place of the folder');
  if (kind !== 'folder') {
    const hint = `put the folder itself here, not a ${kind === 'other' ? 'device' : kind}`;
    return toError(path, 'definition/not-regular-file', `${path} must be a folder`, hint);
  }
  return undefined;
}

interface ReadEntry {
  readonly file?: DefinitionFile;
  readonly aside?: AsideFile | undefined;
  readonly fixture?: NonNullable<DefinitionFiles['fixtures']>[number];
  readonly diagnostic?: Diagnostic | undefined;
}

function readEntry(entry: Entry, kind: DefinitionKind): ReadEntry {
  const role = getRole(entry);
  const { path: file, bytes } = entry;
  if (role.is === 'unknown') return { diagnostic: refuseUnknown(entry) };
  if (role.is === 'fixture') return readFixture(entry, role.automation);
  if (role.is === 'aside') {
    const aside = toAside(entry);
    const isDisguised = aside && isDocument(posix.basename(file)) && file.split('/').length === 2;
    return isDisguised ? { diagnostic: refuseMisnamed(file) } : { aside };
  }
  if (entry.kind !== 'file') return { diagnostic: refuseIrregular(file) };
  // The parser says that a file is too large.
  if (bytes === 'too-large') return { file: { kind, name: role.name, file, bytes: oversized } };
  if (typeof bytes === 'string') return { diagnostic: diagnoseUnreadable(file, 'file', bytes) };
  return bytes ? { file: { kind, name: role.name, file, bytes } } : { diagnostic: refuseIrregular(file) };
}

const oversized = new Uint8Array(definitionBytesMax + 1);

function readFixture({ path: file, kind, bytes }: Entry, automation: string): ReadEntry {
  const depth = file.split('/').length;
  if (depth === 2 && kind === 'folder')
    return typeof bytes === 'string' ? { diagnostic: diagnoseUnreadable(file, 'folder', bytes) } : {};
  if (depth === 2) {
    const message = 'the fixtures of an automation must be in a folder';
    return { diagnostic: toError(file, 'fixture/invalid', message, 'put the folder itself here') };
  }
  if (kind !== 'file') {
    const hint = 'put the file itself here, not a link';
    return {
      diagnostic: toError(file, 'fixture/invalid', 'a fixture must be a regular file', hint),
    };
  }
  if (depth === 3 && file.endsWith('.json')) return { fixture: { automation, file, bytes } };
  const hint = 'name it <name>.json, or move it to another folder';
  return { diagnostic: toError(file, 'fixture/invalid', 'not a fixture', hint) };
}

/** Keeps a file only if it reads like a definition: another one can never be missed as one. */
function toAside({ path: file, bytes }: Entry): AsideFile | undefined {
  if (bytes === undefined || typeof bytes === 'string') return undefined;
  const kind = findKind(file, bytes);
  return kind && { kind, file, bytes };
}

const definitionKeys: Readonly<Record<DefinitionKind, RegExp>> = {
  webhook: /^(?:authMode|secretName|signatureScheme)$/,
  automation: /^(?:prompt|promptFile|triggers)$/,
};

/** The kind of the definition that a text reads like, in whatever folder it is. */
function findKind(file: string, bytes: Uint8Array): DefinitionKind | undefined {
  const yaml = parseYaml(file, bytes);
  const value: unknown = yaml.ok ? yaml.source.value : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return definitionKinds.find(kind => Object.keys(value).some(key => definitionKeys[kind].test(key)));
}

function refuseUnknown(entry: Entry): Diagnostic | undefined {
  const { path, kind } = entry;
  const [folder, name = '', ...below] = path.split('/');
  // The folder itself is an error.
  if (below.length > 0) return undefined;
  if (kind === 'folder') {
    const hint = `move its definitions to ${folder}/, and other files to another folder`;
    const message = `hookmill reads no folders in ${folder}/`;
    return toError(path, 'definition/not-regular-file', message, hint);
  }
  return kind === 'file' ? refuseMisnamed(path, name) : refuseIrregular(path);
}

/** Rejects a file by its name: ignoring a definition would destroy its webhook. */
function refuseMisnamed(path: string, name = posix.basename(path)): Diagnostic {
  const suggested = `${suggestName(name) ?? '<name>'}.yaml`;
  const isOnlyMisspelt = /^[^._#].*\.ya?ml$/i.test(name);
  const disable = 'to disable a definition, keep its name and write `enabled: false` in it';
  if (isOnlyMisspelt)
    return toError(path, 'definition/file-name', invalidName, `name it ${suggested}: ${nameRule}`);
  if (/\.ya?ml/i.test(name) || isDocument(name))
    return toError(path, 'definition/file-name', invalidName, `name it ${suggested}; ${disable}`);
  return toError(
    path,
    'definition/file-name',
    'not a definition file',
    `move it to another folder; ${disable}`,
  );
}

const invalidName = 'invalid name for a definition file';

function refuseIrregular(file: string): Diagnostic {
  const hint = 'put the file itself here, not a link or a folder';
  return toError(file, 'definition/not-regular-file', 'a definition must be a regular file', hint);
}

function diagnoseUnreadable(file: string, what: 'file' | 'folder', code: string): Diagnostic {
  return toError(file, 'yaml/unreadable', `the ${what} cannot be read (${code})`, 'check its permissions');
}

function toError(file: string, code: DiagnosticCode, message: string, hint: string): Diagnostic {
  return { code, severity: 'error', message, file, hint };
}

interface MisnamedFolder {
  readonly name: string;
  readonly meant: string;
  readonly below: readonly Entry[];
}

/** Finds folders with YAML whose names are nearly the names of definition folders. */
function findMisnamedFolders(entries: readonly Entry[]): MisnamedFolder[] {
  return entries.flatMap(({ path: name, kind }) => {
    const meant = kind === 'folder' && !name.includes('/') ? findMeantFolder(name) : undefined;
    if (meant === undefined) return [];
    const below = entries.filter(entry => entry.path.startsWith(`${name}/`));
    return below.some(({ path }) => isYaml(path)) ? [{ name, meant, below }] : [];
  });
}

/** A name that differs only in case is an error: on some file systems it is the folder that was meant. */
function diagnoseMisnamed({ name, meant }: MisnamedFolder): Diagnostic {
  const severity = name.toLowerCase() === meant ? 'error' : 'warning';
  const message = `the definitions in ${name}/ are ignored`;
  return { code: 'definition/folder-name', severity, message, file: name, hint: `move them to ${meant}/` };
}

/** An error if the directory is probably the wrong one, a warning if the last definition may have been removed. */
function describeNone(
  entries: readonly Entry[],
  place: string,
  [misnamed]: readonly MisnamedFolder[],
): Diagnostic {
  const isDefinitionsDirectory = entries.some(({ path }) => folders.includes(path));
  const hint = misnamed
    ? `rename ${misnamed.name}/ to ${misnamed.meant}/`
    : 'write webhooks/<name>.yaml, or name the definitions directory with -C';
  const where = folders.map(folder => `${folder}/`).join(' and ');
  return {
    code: 'factory/no-definitions',
    severity: isDefinitionsDirectory && !misnamed ? 'warning' : 'error',
    message: `no definitions found in ${where} of ${place}`,
    file: definitionFolders.webhook,
    hint,
  };
}

function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

/** The role of an entry below a definitions folder. */
type Role =
  | { readonly is: 'definition'; readonly name: string }
  /** A sample payload of the automation, in `<automation>.fixtures/`. */
  | { readonly is: 'fixture'; readonly automation: string }
  /** Something that may stand there without a word: documents, and files of editors and of git. */
  | { readonly is: 'aside' }
  | { readonly is: 'unknown' };

const fixturesSuffix = '.fixtures';
const editorFolders = new Set(['.idea', '.vscode']);
const gitFiles = new Set(['.gitkeep', '.keep', '.gitignore', '.gitattributes', '.editorconfig']);
const desktopFiles = new Set(['.DS_Store', '.directory', 'Icon\r', 'Thumbs.db', 'desktop.ini']);

// Vim, Emacs, Kate, GNOME, IntelliJ, LibreOffice; files that NFS and macOS keep beside others.
const temporaryNames = [
  ...[/~$/, /^#.*#$/, /^\.#/, /^\..*\.sw[a-p]x?$/, /^4913$/, /\.kate-swp$/, /^\.goutputstream-/],
  ...[/\.tmp$/, /^\.netrwhist$/],
  ...[/___jb_(?:tmp|old)___$/, /^\.~lock\..*#$/, /^\.nfs[0-9a-f]+$/, /^\._/],
];

/** Whether a file of this name is not a definition, although it lies among them. */
function isAside(name: string): boolean {
  return isDocument(name) || gitFiles.has(name) || desktopFiles.has(name) || isTemporary(name);
}

function isTemporary(name: string): boolean {
  return temporaryNames.some(pattern => pattern.test(name));
}

/** Whether people write documents under this name. One that reads like a definition was meant as one. */
function isDocument(name: string): boolean {
  return /[^.]\.(?:md|txt)$/.test(name) && !isTemporary(name);
}

function getRole({ path, kind }: Pick<Entry, 'path' | 'kind'>): Role {
  const [folder = '', name = '', ...below] = path.split('/');
  const last = below.at(-1) ?? name;
  if (below.length === 0) {
    const definition = parseDefinitionName(name);
    if (definition !== undefined) return { is: 'definition', name: definition };
  }
  const automation = findAutomation(folder, name);
  // Emacs marks a file that it edits by a link to nowhere.
  const mayLie = kind === 'file' || (kind === 'link' && isTemporary(last));
  if (mayLie && isAside(last) && (below.length === 0 || automation !== undefined)) return { is: 'aside' };
  if (editorFolders.has(name))
    return below.length > 0 || kind === 'folder' ? { is: 'aside' } : { is: 'unknown' };
  return automation === undefined ? { is: 'unknown' } : { is: 'fixture', automation };
}

/** The automation whose fixtures a folder has. */
function findAutomation(folder: string, name: string): string | undefined {
  if (folder !== definitionFolders.automation || !name.endsWith(fixturesSuffix)) return undefined;
  return name.slice(0, -fixturesSuffix.length);
}

/** The definitions folder that was probably meant by another name; undefined for any other name, and for a right one. */
function findMeantFolder(name: string): string | undefined {
  return folders.includes(name) ? undefined : findNearest(name, folders);
}

/** Whether all that is below this entry of the definitions directory is listed too. */
export function isListedWhole(name: string): boolean {
  return folders.includes(name) || findMeantFolder(name) !== undefined;
}

/** How many bytes of a file are read at most; undefined if it is not read. Fixtures are read only if they are wanted. */
export function getBytesMax(entry: Pick<Entry, 'path' | 'kind'>, withFixtures: boolean): number | undefined {
  const [folder = ''] = entry.path.split('/');
  if (entry.kind !== 'file' || folder === entry.path) return undefined;
  // A file of a misnamed folder may be the definition that is missing elsewhere.
  if (!folders.includes(folder)) return isYaml(entry.path) ? definitionBytesMax : undefined;
  const { is } = getRole(entry);
  if (is === 'fixture') return withFixtures ? fixtureBytesMax : undefined;
  return is === 'unknown' ? undefined : definitionBytesMax;
}

/** The valid name of a definition that is closest to a file's, without what disables it or makes it a copy. */
export function suggestName(fileName: string): string | undefined {
  const name = fileName
    .toLowerCase()
    .replace(/^[._#~ ]+/, '')
    .replace(/(?:\.ya?ml|\.(?:md|txt|json|off|bak|disabled)$).*$/s, '')
    .trim()
    .replaceAll(/[_. ]/g, '-');
  return namePattern.test(name) ? name : undefined;
}
