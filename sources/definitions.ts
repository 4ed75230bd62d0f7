import type { AutomationDefinition } from '../schema/definitions/automation-definition.ts';
import type { WebhookDefinition } from '../schema/definitions/webhook-definition.ts';
import type { Diagnostic, Range } from '../schema/diagnostics.ts';
import type { DefinitionKind } from './definition-files.ts';

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
