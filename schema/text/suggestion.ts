import { closest, distance } from 'fastest-levenshtein';

/** Most errors by which a UID is still similar: random ones differ in 26 of 27 characters. */
const errorsMax = 2;

/** Fewest characters by which a word may be the beginning of another one. */
const beginningCharsMin = 3;

/** Most words that are suggested together. */
const suggestedMax = 5;

/** "did you mean x, y or z?": the words that begin with this one, otherwise the nearest one if it is near enough, or those that begin with all but its last letter; ignores case. */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const near = findNearest(word, words);
  const found =
    findBegun(wanted, words) ?? (near !== undefined ? [near] : findBegun(wanted.slice(0, -1), words));
  return found && `did you mean ${joinWithOr(found.slice(0, suggestedMax))}?`;
}

function findBegun(beginning: string, words: readonly string[]): readonly string[] | undefined {
  if (beginning.length < beginningCharsMin) return undefined;
  const begun = words.filter(known => known.toLowerCase().startsWith(beginning));
  return begun.length > 0 ? begun : undefined;
}

/** Finds the word that was probably meant, ignoring case. It may differ by one error in three characters. */
export function findNearest(word: string, words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined;
  const inLowerCase = words.map(known => known.toLowerCase());
  const wanted = word.toLowerCase();
  const near = closest(wanted, inLowerCase);
  const errorsAllowed = Math.max(1, Math.floor(Math.max(wanted.length, near.length) / 3));
  return distance(wanted, near) <= errorsAllowed ? words[inLowerCase.indexOf(near)] : undefined;
}

/** "a, b or c" */
export function joinWithOr(words: readonly string[]): string {
  return joinWith('or', words);
}

/** As in `a, b and c`. */
export function joinWithAnd(words: readonly string[]): string {
  return joinWith('and', words);
}

function joinWith(conjunction: string, words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}

/**
 * Says how a text that stands in the place of a UID differs from one, without repeating it: a credential may follow. Empty
 * if it does not differ; undefined if it is not similar.
 */
export function describeSimilarUid(text: string, uid: string): string | undefined {
  if (text === uid) return '';
  const lower = text.toLowerCase();
  if (lower === uid) return 'the UID is in upper case';
  if (lower.startsWith(uid)) return describeTail(text.slice(uid.length));
  if (uid.startsWith(lower)) return `the UID is cut off after ${text.length} of ${uid.length} characters`;
  if (uid.endsWith(lower)) return `the first ${uid.length - text.length} characters of the UID are missing`;
  const errors = distance(lower, uid);
  if (errors > errorsMax) return undefined;
  if (errors > 1) return 'two characters of the UID are wrong';
  if (text.length === uid.length) return 'one character of the UID is wrong';
  return `the UID has one character too ${text.length < uid.length ? 'few' : 'many'}`;
}

function describeTail(tail: string): string {
  if (/^\s+$/.test(tail)) return 'white space follows the UID';
  return /^[!-/:-@[-`{-~]$/.test(tail)
    ? `${JSON.stringify(tail)} follows the UID`
    : 'more characters follow the UID';
}

/**
 * Finds the word that differs only by a slip: its case, its separators, one letter, two letters swapped, or two wrong
 * letters in a long word. Words with other digits are other words.
 */
export function findSimilar(word: string, words: readonly string[]): string | undefined {
  const wanted = simplify(word);
  return (
    words.find(other => other !== word && simplify(other) === wanted) ??
    words.find(other => other !== word && isSlip(wanted, simplify(other)))
  );
}

function simplify(word: string): string {
  return word.toLowerCase().replaceAll(/[\s_.-]/g, '');
}

function isSlip(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < 3 || digitsOf(a) !== digitsOf(b)) return false;
  const wrong = distance(a, b);
  if (wrong !== 2 || a.length !== b.length) return wrong === 1;
  return a.length >= 9 || isSwapped(a, b);
}

function digitsOf(word: string): string {
  return word.replaceAll(/\D/g, '');
}

function isSwapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, index) => letter !== b[index]);
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}
