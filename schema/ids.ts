/** The form of a webhook's UID. It is checked before a UID is looked up or becomes the key of a rate limit. */
export const uidPattern = /^wh_[0-9a-z]{24}$/;

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
// Crockford's base 32 in lower case. Texts sort in the order of the numbers that they encode.
const sortableAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Bytes of randomness for `createUid`: more than its 24 characters, because it skips some bytes. */
export const uidRandomBytes = 64;
/** Bytes of randomness for `createSortableId`. */
export const sortableIdRandomBytes = 16;

/** Makes the UID of a webhook from random bytes: 24 characters, about 124 bits. */
export function createUid(random: Uint8Array): string {
  // Bytes from 252 (7 * 36) on are skipped, so that each character is equally likely.
  const characters = Array.from(random)
    .filter(byte => byte < 252)
    .slice(0, 24)
    .map(byte => alphabet[byte % 36]);
  if (characters.length < 24) throw new RangeError('createUid: not enough randomness');
  return `wh_${characters.join('')}`;
}

/** Makes an id that sorts by time: a prefix and a lower-case ULID, with 10 characters of time and 16 random ones. */
export function createSortableId(
  prefix: 'dlv' | 'run' | 'msg' | 'alr' | 'test',
  atMs: number,
  random: Uint8Array,
): string {
  let time = '';
  for (let rest = atMs, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    time = sortableAlphabet.charAt(rest % 32) + time;
  }
  let tail = '';
  for (let i = 0; i < 16; i++) tail += sortableAlphabet.charAt((random[i] as number) & 31);
  return `${prefix}_${time}${tail}`;
}

/** The first of all ids that `createSortableId` makes at this time or later. */
export function firstSortableId(prefix: 'dlv' | 'run', atMs: number): string {
  return createSortableId(prefix, Math.max(0, atMs), new Uint8Array(sortableIdRandomBytes));
}

/** Reads the time, in ms, from an id of `createSortableId`; undefined if it is no such id. */
export function readSortableIdTime(id: string): number | undefined {
  const time = /^[a-z]{3}_([0-9a-hjkmnp-tv-z]{10})[0-9a-hjkmnp-tv-z]{16}$/.exec(id)?.[1];
  if (time === undefined) return undefined;
  return [...time].reduce((atMs, digit) => atMs * 32 + sortableAlphabet.indexOf(digit), 0);
}
