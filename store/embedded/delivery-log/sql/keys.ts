import { hash } from 'node:crypto';

/** Bytes of a key: two different texts never have the same one, and the index stays small. */
const keyBytes = 16;

/** The key of an accepted identity, which is unique in the log. */
export function makeIdentityKey(uid: string, source: string, identity: string): Uint8Array {
  return makeKey(`${uid}\0${source}\0${identity}`);
}

/** The key of what a signature covers, which is unique in the log. */
export function makeContentKey(uid: string, contentDigest: string): Uint8Array {
  return makeKey(`${uid}\0${contentDigest}`);
}

function makeKey(text: string): Uint8Array {
  // The digest as a text first: `hash` takes three times as long to return a buffer.
  return Buffer.from(hash('sha256', text, 'binary'), 'binary').subarray(0, keyBytes);
}

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
