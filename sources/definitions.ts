import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { FoundPrompt } from '../schema/definitions/prompts.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import type { Diagnostic, Range } from '../schema/diagnostics.ts';
import { namePattern } from '../schema/names.ts';

export const definitionKinds = ['webhook', 'automation'] as const;
export type DefinitionKind = (typeof definitionKinds)[number];

export type EntryKind = 'file' | 'folder' | 'link' | 'submodule' | 'other';

/** An entry of a definitions directory, as the file system or a commit has it. Its path begins in that directory. */
export interface Entry {
  readonly path: string;
  readonly kind: EntryKind;
  /** The content of a file that is read, at most one byte more than its limit; a text says why it has none. */
  readonly bytes?: Uint8Array | Unread;
}

/** A file system's error code, or that the file was larger than its limit and left out. */
export type Unread = 'too-large' | `E${string}`;

/** A definition file as a source found it. `file` is its name in diagnostics. */
export interface DefinitionFile {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** A file that may lie among definitions. Its bytes matter only if they are those of a definition that is missing. */
export type AsideFile = Omit<DefinitionFile, 'name'>;

/** The definition files of a source, and diagnostics about files that cannot be definitions. */
export interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly asides?: readonly AsideFile[];
  /** Sample payloads of automations; without their bytes if those were not asked for. */
  readonly fixtures?: readonly FixtureFile[];
  /** The prompt files that the automations name, by their paths in the definitions directory. */
  readonly prompts?: ReadonlyMap<string, FoundPrompt>;
}

export interface FixtureFile extends Pick<DefinitionFile, 'file'> {
  readonly automation: string;
  readonly bytes?: Uint8Array | string | undefined;
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

/** The desired state: all valid definitions, and the diagnostics of the files. */
export interface Definitions {
  /** Sorted by name. */
  readonly webhooks: readonly WebhookDefinition[];
  /** Sorted by name. */
  readonly automations: readonly AutomationDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  /** The number of definition files, with mistakes or without. */
  readonly fileCount: number;
  readonly asides: readonly AsideDefinition[];
  /** The text of each file by its name in diagnostics, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
  /** Finds the place of a part of a definition; beyond as many places as a report shows, only its file. */
  readonly locate: (kind: DefinitionKind, name: string, path: readonly PropertyKey[]) => DefinitionPlace;
}

/** A file beside the definitions that reads like one. */
export interface AsideDefinition extends Omit<AsideFile, 'bytes'> {
  /** The name that it would have as a definition. */
  readonly name: string | undefined;
  /** Undefined if it has mistakes. */
  readonly definition: WebhookDefinition | AutomationDefinition | undefined;
}

/** A part of a definition file. */
interface DefinitionPlace {
  readonly file: string;
  readonly range?: Range;
}
