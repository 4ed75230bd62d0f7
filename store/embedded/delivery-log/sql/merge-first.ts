/**
 * Merges the first rows of several lists. Each list is read in the order of `compare`: at most its first `limit` rows,
 * and none from `end` on, which is the last row that still counts.
 */
export function mergeFirst<Key, Row>(
  keys: readonly Key[],
  limit: number,
  compare: (a: Row, b: Row) => number,
  read: (key: Key, end: Row | undefined) => readonly Row[],
): readonly Row[] {
  let first: readonly Row[] = [];
  for (const key of keys) {
    const more = read(key, first[limit - 1]);
    if (more.length > 0) first = [...first, ...more].sort(compare).slice(0, limit);
  }
  return first;
}
