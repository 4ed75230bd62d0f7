import type { AppliedState, Management } from '../schema/applied-state.ts';
import { type Instead, Refusal } from '../schema/refusal.ts';
import type { DefinitionKind } from '../sources/definition-files.ts';
import { getDefinitionPath } from '../sources/definition-files.ts';

/** Finds the place where a factory's webhooks and automations are managed; null if the factory is still empty. */
export function findManagement({ source }: Pick<AppliedState, 'source'>): Management | null {
  if (source === null) return null;
  return source.kind === 'directory' ? 'files' : source.kind;
}

/** Refuses unless the factory is managed in the dashboard; `instead` says how to make the change elsewhere. */
export function requireManagedHere(state: AppliedState, instead: () => Instead): void {
  const management = findManagement(state);
  if (management === null || management === 'dashboard') return;
  throw new Refusal(`managed-in-${management}`, {
    detail: `the factory ${state.factory} is managed by ${describeOrigin(state)}`,
    instead: instead(),
  });
}

/** The definition file of a webhook or automation; null if it was created in the dashboard. */
export function findDefinitionFile(
  { source }: Pick<AppliedState, 'source'>,
  kind: DefinitionKind,
  name: string,
): string | null {
  if (source === null || source.kind === 'dashboard') return null;
  const path = source.kind === 'repository' && source.path !== '' ? `${source.path}/` : '';
  return `${path}${getDefinitionPath(kind, name)}`;
}

function describeOrigin({ source }: AppliedState): string {
  if (source?.kind === 'repository') return `the branch ${source.branch} of ${source.repository}`;
  return source?.kind === 'directory' ? `the files in ${source.directory}` : 'the dashboard';
}
