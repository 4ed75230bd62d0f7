/** The first 12 digits of a commit: enough to find it, short enough to read. */
export function shortenRevision(revision: string): string {
  return revision.slice(0, 12);
}
