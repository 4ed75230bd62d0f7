import type { Commit } from '../../schema/commit.ts';
import { shortenRevision } from '../../schema/short-revision.ts';

/** A commit in a few words. Committers choose author and subject, so callers must escape the text. */
export function describeCommit({ revision, subject, author }: Commit): string {
  return `${shortenRevision(revision)} "${subject}" (${author})`;
}
