import { hash } from 'node:crypto';
import type { AppliedSource, AppliedState } from '../schema/applied-state.ts';
import { toCanonicalJson } from '../schema/canonical-json.ts';

export type RepositorySource = Extract<AppliedSource, { kind: 'repository' }>;

/** Where definitions come from, as whoever applies them knows it. */
export type DesiredSource =
  | Exclude<AppliedSource, { kind: 'repository' }>
  | Omit<RepositorySource, 'contentDigest'>;

type Content = Pick<AppliedState, 'webhooks' | 'automations'>;

/** The source as it is kept with what was applied from it. */
export function toAppliedSource(source: DesiredSource, content: Content): AppliedSource {
  return source.kind === 'repository' ? { ...source, contentDigest: contentDigest(content) } : source;
}

export type SourcePlace = Pick<RepositorySource, 'repository' | 'branch' | 'path'>;

/** The source of an applied state that comes from that branch and path of a repository, at whatever revision. */
export function appliedFrom(state: AppliedState, place: SourcePlace): RepositorySource | undefined {
  const { source } = state;
  if (source?.kind !== 'repository' || source.repository !== place.repository) return undefined;
  return source.branch === place.branch && source.path === place.path ? source : undefined;
}

/** Whether a hand edited the applied state since a reconcile wrote it. */
export function isEdited(state: AppliedState): boolean {
  return state.source?.kind === 'repository' && state.source.contentDigest !== contentDigest(state);
}

function contentDigest({ webhooks, automations }: Content): string {
  return hash('sha256', toCanonicalJson({ webhooks, automations }));
}
