import { closest, distance } from 'fastest-levenshtein';

/** "did you mean x?" if one of the words is near enough to be what was meant. */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined;
  const near = closest(word.toLowerCase(), words);
  const errorsAllowed = Math.max(1, Math.floor(Math.max(word.length, near.length) / 3));
  return distance(word.toLowerCase(), near.toLowerCase()) <= errorsAllowed
    ? `did you mean ${near}?`
    : undefined;
}

/** "a, b or c" */
export function listOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}
