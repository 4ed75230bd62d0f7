import { closest, distance } from 'fastest-levenshtein';

/** "did you mean x?" if one of the words is near enough, ignoring case. */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  const near = findNearest(word, words);
  return near === undefined ? undefined : `did you mean ${near}?`;
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
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
