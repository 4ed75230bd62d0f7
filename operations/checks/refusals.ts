import { posix } from 'node:path';
import type { AppliedState } from '../../schema/applied-state.ts';
import type { Confirmation } from '../../schema/changes/plan-shapes.ts';
import { type Diagnostic, hasErrors } from '../../schema/diagnostics.ts';
import { type Definitions, definitionFolders } from '../../sources/definitions.ts';
import { makeRenameDiagnostics, type Rename } from './rename-diagnostics.ts';
import { makeSharedSecretDiagnostics } from './shared-secrets.ts';

// A reconcile refuses these changes although they could be applied: nobody is likely to have meant them, or a merge may
// not decide about them. A plan of a factory that follows a branch reports the same, so that a reviewer knows before.

interface RefusableChanges {
  readonly changes: readonly { readonly name: string; readonly confirmation?: Confirmation }[];
  readonly renames: readonly Rename[];
}

/** Reports renamed webhooks: they would get new UIDs, and so new URLs. */
export function refuseRenames({ renames }: RefusableChanges, definitions: Pick<Definitions, 'locate'>) {
  return makeRenameDiagnostics(renames, definitions, 'error');
}

/**
 * Reports webhooks that would use a team secret in another way than another factory does. The merge confirmed the other
 * changes, but cannot speak for another factory.
 */
export function refuseForeignUses(
  { changes }: RefusableChanges,
  definitions: Pick<Definitions, 'locate'>,
): Diagnostic[] {
  const uses = changes.flatMap(({ name, confirmation }) =>
    confirmation?.reason === 'other-factory' ? [[name, confirmation] as const] : [],
  );
  return makeSharedSecretDiagnostics(new Map(uses), definitions, 'error');
}

/**
 * Whether everything would be destroyed, because there are no definitions, not even with mistakes. If there are errors,
 * they give the reason.
 */
export function isEmpty(
  { fileCount, diagnostics }: Pick<Definitions, 'fileCount' | 'diagnostics'>,
  { webhooks, automations }: Pick<AppliedState, 'webhooks' | 'automations'>,
): boolean {
  const isApplied = webhooks.length + automations.length > 0;
  return fileCount === 0 && isApplied && !hasErrors(diagnostics);
}

/** Explains the refusal of a path without definitions. */
export function describeEmpty(path: string): { readonly message: string; readonly hint: string } {
  const places = Object.values(definitionFolders).map(folder => `${posix.join(path, folder)}/`);
  return {
    message: `there are no definitions in ${places.join(' and ')}, so everything would be destroyed`,
    hint: 'check the path, or run `hookmill reconcile --once --allow-empty`',
  };
}

/** Says why a tip is refused that does not descend from the applied revision. */
export const rewound = {
  message: 'the tip does not descend from the applied revision: the history was rewritten or reset',
  hint: 'push a commit that descends from the applied revision, or run `hookmill reconcile --once --allow-rewind`',
} as const;
