import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { FoundPrompt } from '../schema/definitions/prompts.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import type { Diagnostic, DiagnosticCode, Range } from '../schema/diagnostics.ts';
import { namePattern, nameRule } from '../schema/names.ts';

export const definitionKinds = ['webhook', 'automation'] as const;
export type DefinitionKind = (typeof definitionKinds)[number];

/** A definition file as a source found it. `file` is its name in diagnostics. */
export interface DefinitionFile {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** The definition files of a source, and diagnostics about files that cannot be definitions. */
export interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** The names of further webhooks that triggers may select, if only some files of a directory were read. */
  readonly otherWebhooks?: readonly string[];
  /** The prompt files that the automations name, by their paths in the definitions directory. */
  readonly prompts?: ReadonlyMap<string, FoundPrompt>;
}

export function mergeFiles(found: readonly DefinitionFiles[]): DefinitionFiles {
  return {
    files: found.flatMap(({ files }) => files),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
    prompts: new Map(found.flatMap(({ prompts = [] }) => [...prompts])),
  };
}

export const definitionFolders: Readonly<Record<DefinitionKind, string>> = {
  webhook: 'webhooks',
  automation: 'automations',
};

/** The path of a definition's file in the definitions directory. */
export function getDefinitionPath(kind: DefinitionKind, name: string): string {
  return `${definitionFolders[kind]}/${name}.yaml`;
}

/** The path of an automation's fixture in the definitions directory. */
export function getFixturePath(automation: string, fixture: string): string {
  return `${definitionFolders.automation}/${automation}.fixtures/${fixture}.json`;
}

/** The name of the definition in a file of this name; undefined if the file name is invalid. */
export function parseDefinitionName(fileName: string): string | undefined {
  if (!fileName.endsWith('.yaml')) return undefined;
  const name = fileName.slice(0, -'.yaml'.length);
  return namePattern.test(name) ? name : undefined;
}

/** Whether an entry of a definitions folder is ignored: hidden files of editors and git, and automations' fixtures. */
export function isIgnored(kind: DefinitionKind, fileName: string, isDirectory: boolean): boolean {
  if (fileName.startsWith('.')) return true;
  return kind === 'automation' && isDirectory && fileName.endsWith('.fixtures');
}

const meantAsDefinition = /\.ya?ml$/i;

/** Whether a file's name says that it contains YAML. */
export function isMeantAsDefinition(fileName: string): boolean {
  return meantAsDefinition.test(fileName);
}

/** Rejects a file by its name: a misnamed definition with an error, because ignoring it could destroy its webhook. */
export function rejectName(file: string): DefinitionFiles {
  if (isMeantAsDefinition(file)) {
    const hint = `name it ${suggestFileName(file) ?? '<name>.yaml'}: ${nameRule}`;
    return rejectFile(file, 'definition/file-name', 'invalid name for a definition file', hint);
  }
  const message = 'not a definition file; it is ignored';
  return {
    files: [],
    diagnostics: [
      { code: 'definition/file-name', severity: 'warning', message, file, hint: 'move it to another folder' },
    ],
  };
}

/** The valid file name that is closest to this one. */
function suggestFileName(file: string): string | undefined {
  const name = (file.split('/').at(-1) ?? '')
    .toLowerCase()
    .replace(meantAsDefinition, '')
    .replaceAll(/[_. ]/g, '-');
  return namePattern.test(name) ? `${name}.yaml` : undefined;
}

export function rejectIrregularFile(file: string): DefinitionFiles {
  const hint = 'put the file itself here, not a link or a folder';
  return rejectFile(file, 'definition/not-regular-file', 'a definition must be a regular file', hint);
}

/** Returns no file, and one diagnostic that says why. */
export function rejectFile(
  file: string,
  code: DiagnosticCode,
  message: string,
  hint: string,
): DefinitionFiles {
  return { files: [], diagnostics: [{ code, severity: 'error', message, file, hint }] };
}

/** The desired state: all valid definitions, and the diagnostics of the files. */
export interface Definitions {
  /** Sorted by name. */
  readonly webhooks: readonly WebhookDefinition[];
  /** Sorted by name. */
  readonly automations: readonly AutomationDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  readonly fileCount: number;
  /** The text of each file by its name in diagnostics, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
  /** Finds the place of a part of a definition; beyond as many places as a report shows, only its file. */
  readonly locate: (kind: DefinitionKind, name: string, path: readonly PropertyKey[]) => DefinitionPlace;
}

/** A part of a definition file. */
interface DefinitionPlace {
  readonly file: string;
  readonly range?: Range;
}
