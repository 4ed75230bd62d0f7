/** The form of a webhook's UID. Checked before a UID is looked up or used as a limiter's key. */
export const uidPattern = /^wh_[0-9a-z]{24}$/;

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
// Crockford's base 32 in lower case: keeps the order of the numbers it writes.
const sortableAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Bytes of randomness that `webhookUid` takes: more than its 24 characters, because it passes over some. */
export const uidRandomBytes = 64;
/** Bytes of randomness that `sortableId` takes. */
export const sortableIdRandomBytes = 16;

/** A webhook's UID from random bytes: 24 characters, about 124 bits. */
export function webhookUid(random: Uint8Array): string {
  // 7 * 36 = 252: larger bytes are passed over so that each character is equally likely.
  const characters = Array.from(random)
    .filter(byte => byte < 252)
    .slice(0, 24)
    .map(byte => alphabet[byte % 36]);
  if (characters.length < 24) throw new RangeError('webhookUid: not enough randomness');
  return `wh_${characters.join('')}`;
}

/** An id that sorts by the millisecond it was made in: 10 characters of time, 16 of randomness (80 bits). */
export function sortableId(prefix: 'dlv' | 'run' | 'msg', atMs: number, random: Uint8Array): string {
  let time = '';
  for (let rest = atMs, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    time = sortableAlphabet.charAt(rest % 32) + time;
  }
  let tail = '';
  for (let i = 0; i < 16; i++) tail += sortableAlphabet.charAt((random[i] as number) & 31);
  return `${prefix}_${time}${tail}`;
}
