import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import type { Diagnostic, Range } from '../schema/diagnostics.ts';

export type DefinitionKind = 'webhook' | 'automation';

/** A definition file as a source found it. `file` is how diagnostics name it. */
export interface DefinitionFile {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** What a source has: the definition files, and what is wrong with others that stand beside them. */
export interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The desired state: what the definition files say, and all that is wrong with them. */
export interface Definitions {
  readonly webhooks: readonly WebhookDefinition[];
  readonly automations: readonly AutomationDefinition[];
  readonly diagnostics: readonly Diagnostic[];
  readonly fileCount: number;
  /** The text of each file by its name in diagnostics, for code frames. */
  readonly texts: ReadonlyMap<string, string>;
  /** Where a part of a definition stands. */
  readonly locate: (kind: DefinitionKind, name: string, path: readonly PropertyKey[]) => DefinitionPlace;
}

/** A part of a definition file. */
export interface DefinitionPlace {
  readonly file: string;
  readonly range?: Range;
}
