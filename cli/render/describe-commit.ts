import type { Commit } from '../../schema/commit.ts';

/** A commit in a few words. Committers choose author and subject, so callers must escape the text. */
export function describeCommit({ revision, subject, author }: Commit): string {
  return `${shortenRevision(revision)} "${subject}" (${author})`;
}

export function shortenRevision(revision: string): string {
  return revision.slice(0, 7);
}
