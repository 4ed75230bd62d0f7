import { hash } from 'node:crypto';
import type { AppliedSource, AppliedState } from '../../schema/applied-state.ts';
import { toCanonicalJson } from '../../schema/text/json-text.ts';
import type { Repository } from '../../sources/repository/repository.ts';

export type RepositorySource = Extract<AppliedSource, { kind: 'repository' }>;

/** The source of definitions, before they are applied. */
export type DesiredSource =
  | Exclude<AppliedSource, { kind: 'repository' }>
  | Omit<RepositorySource, 'contentDigest'>;

export type AppliedContent = Pick<AppliedState, 'webhooks' | 'automations'>;

/** The source as it is stored in the applied state. */
export function toAppliedSource(source: DesiredSource, content: AppliedContent): AppliedSource {
  return source.kind === 'repository' ? { ...source, contentDigest: digestContent(content) } : source;
}

export type SourcePlace = Pick<RepositorySource, 'repository' | 'branch' | 'path'>;

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

function digestContent({ webhooks, automations }: AppliedContent): string {
  return hash('sha256', toCanonicalJson({ webhooks, automations }));
}
