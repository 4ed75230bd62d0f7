/**
 * The identity of a delivery whose former one no longer makes others its duplicates. It is unique, as each identity of an
 * accepted delivery is.
 */
export function toReleasedIdentity(identity: string, id: string): string {
  return `earlier ${identity}, ${id}`;
}
