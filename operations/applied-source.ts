import { hash } from 'node:crypto';
import type { AppliedSource, AppliedState, AppliedWebhook, Management } from '../schema/applied-state.ts';
import { type Instead, Refusal } from '../schema/refusal.ts';
import { toCanonicalJson } from '../schema/text/json-text.ts';
import { type DefinitionKind, getDefinitionPath } from '../sources/definitions.ts';
import type { Repository } from '../sources/repository/repository.ts';

type RepositorySource = Extract<AppliedSource, { kind: 'repository' }>;

/** The source of definitions, before they are applied. */
export type DesiredSource =
  | Exclude<AppliedSource, { kind: 'repository' }>
  | Omit<RepositorySource, 'contentDigest'>;

export type AppliedContent = Pick<AppliedState, 'webhooks' | 'automations'>;

/** The source as it is stored in the applied state. */
export function toAppliedSource(source: DesiredSource, content: AppliedContent): AppliedSource {
  return source.kind === 'repository' ? { ...source, contentDigest: digestContent(content) } : source;
}

type SourcePlace = Pick<RepositorySource, 'repository' | 'branch' | 'path'>;

/** The place in a repository that a factory follows, as states record it. */
export function toSourcePlace({ url, branch, path }: Repository): SourcePlace {
  return { repository: url, branch, path };
}

/** Returns the source of an applied state if it is that branch and path of the repository, at any revision. */
export function findAppliedSource(state: AppliedState, place: SourcePlace): RepositorySource | undefined {
  const { source } = state;
  if (source?.kind !== 'repository' || source.repository !== place.repository) return undefined;
  return source.branch === place.branch && source.path === place.path ? source : undefined;
}

/** Whether someone edited the applied state by hand, or a disk damaged it, after hookmill wrote it. */
export function isEdited(state: AppliedState): boolean {
  return (
    state.isDamaged === true ||
    (state.source?.kind === 'repository' && state.source.contentDigest !== digestContent(state))
  );
}

/** Finds the place where a factory's webhooks and automations are managed; null if the factory is still empty. */
export function findManagement({ source }: Pick<AppliedState, 'source'>): Management | null {
  if (source === null) return null;
  return source.kind === 'directory' ? 'files' : source.kind;
}

/** Whether a webhook of definition files was enabled or disabled without them, since they were applied. */
export function isSwitchedByHand({ source }: AppliedState, { switched }: AppliedWebhook): boolean {
  return source !== null && source.kind !== 'dashboard' && switched?.byHand === true;
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

function digestContent({ webhooks, automations }: AppliedContent): string {
  return hash('sha256', toCanonicalJson({ webhooks, automations }));
}
