import type { AppliedState } from '../../schema/applied-state.ts';
import type { Diagnostic } from '../../schema/diagnostics.ts';
import { compareNames } from '../../schema/names.ts';
import {
  type DefinitionKind,
  type Definitions,
  definitionFolders,
  definitionKinds,
  parseDefinitionName,
} from '../../sources/definitions.ts';

interface Named {
  readonly name: string;
}

/** Definitions that a plan can compare, although some files have errors. */
interface Comparable extends Pick<Definitions, 'webhooks' | 'automations'> {
  /** Whether the definition is only here because it is applied: nobody knows what its file means. */
  readonly isReplaced: (definition: { readonly kind: DefinitionKind; readonly name: string }) => boolean;
}

/**
 * Replaces each definition that has an error by what is applied of it, so that a plan of the others neither destroys nor
 * changes it. An error outside of a definition's file (a folder that cannot be read, an invalid file name) may hide any
 * definition, so nothing that is missing counts as removed then.
 */
export function replaceMistaken(
  { webhooks, automations }: Pick<Definitions, 'webhooks' | 'automations'>,
  applied: Pick<AppliedState, 'webhooks' | 'automations'>,
  diagnostics: readonly Diagnostic[],
): Comparable {
  // Without any definitions, nothing is hidden: everything is gone.
  const errors = diagnostics.filter(
    ({ severity, code }) => severity === 'error' && code !== 'factory/no-definitions',
  );
  const mistaken = new Set(errors.map(({ file }) => findDefinition(file)));
  const replaced = new Set<string>();
  const replace = <W extends Named>(kind: DefinitionKind, wanted: readonly W[], existing: readonly W[]) => {
    const valid = wanted.filter(({ name }) => !mistaken.has(toKey(kind, name)));
    const names = new Set(valid.map(({ name }) => name));
    const kept = existing.filter(
      ({ name }) => !names.has(name) && (mistaken.has(undefined) || mistaken.has(toKey(kind, name))),
    );
    for (const { name } of kept) replaced.add(toKey(kind, name));
    return [...valid, ...kept].sort(compareNames);
  };
  return {
    webhooks: replace('webhook', webhooks, applied.webhooks),
    automations: replace('automation', automations, applied.automations),
    isReplaced: ({ kind, name }) => replaced.has(toKey(kind, name)),
  };
}

/** Returns the key of a file's definition; undefined for any other file. */
function findDefinition(file: string): string | undefined {
  const [folder, fileName = ''] = file.split('/').slice(-2);
  const kind = definitionKinds.find(kind => definitionFolders[kind] === folder);
  const name = parseDefinitionName(fileName);
  return kind && name && toKey(kind, name);
}

function toKey(kind: DefinitionKind, name: string): string {
  return `${kind} ${name}`;
}
