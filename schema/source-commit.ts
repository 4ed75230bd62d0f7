import { parseJsonText } from '../json/parse-json-text.ts';
import type { Commit } from './commit.ts';

/** Where definitions come from, as far as it matters here. */
type Source = { readonly kind: 'dashboard' | 'directory' } | ({ readonly kind: 'repository' } & Commit);

/** The commit that an applied state comes from, if its factory follows a branch. */
export function getCommit({ source }: { readonly source: Source | null }): Commit | undefined {
  if (source?.kind !== 'repository') return undefined;
  const { revision, author, subject, committedAt } = source;
  return { revision, author, subject, committedAt };
}

/**
 * Reads the commit from the source of a snapshot, which was checked before it was stored as this JSON; undefined unless
 * the source is a repository.
 */
export function parseSourceCommit(json: string | null | undefined): Commit | undefined {
  if (!json) return undefined;
  return getCommit({ source: parseJsonText(json) as Source | null });
}
