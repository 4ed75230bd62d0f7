/** The first seven digits of a commit, as git and its hosts show it to people. */
export function shortenRevision(revision: string): string {
  return revision.slice(0, 7);
}
