import { distance } from 'fastest-levenshtein';

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
