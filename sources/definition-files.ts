import type { FoundPrompt } from '../schema/definitions/found-prompt.ts';
import type { Diagnostic } from '../schema/diagnostics.ts';

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
