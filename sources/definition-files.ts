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
}

export function mergeFiles(found: readonly DefinitionFiles[]): DefinitionFiles {
  return {
    files: found.flatMap(({ files }) => files),
    diagnostics: found.flatMap(({ diagnostics }) => diagnostics),
  };
}
