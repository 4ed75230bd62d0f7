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
  return hash('sha256', text, 'buffer').subarray(0, keyBytes);
}
