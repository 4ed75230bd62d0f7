/** @limit Longest pattern of `$like` and `$not_like`, in characters: the engine searches for any longer text in quadratic time. */
const globCharsMax = 250;
/** @limit Most `*` in one pattern of `$like` and `$not_like`: readable patterns have one or two. */
const globStarsMax = 64;

// A backslash with the character that it escapes, a star, or text without either.
const parts = /\\[\s\S]?|\*|[^\\*]+/g;

/**
 * Compiles a pattern that `findGlobMistake` accepts. `*` stands for any run of characters, also `/` and also none, and
 * the pattern must match the whole text. `\*` is a star and `\\` a backslash. Upper and lower case differ. Finds each
 * piece between two stars once, from left to right, so the time is linear in the length of the text.
 */
export function compileGlob(glob: string): (text: string) => boolean {
  const [first = '', ...others] = splitGlob(glob);
  const last = others.pop();
  if (last === undefined) return text => text === first;
  return text => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let from = first.length;
    for (const piece of others) {
      const found = text.indexOf(piece, from);
      if (found < 0) return false;
      from = found + piece.length;
    }
    return from <= end;
  };
}

/** The literal texts before, between and after the stars of a pattern: one more than it has stars. */
export function splitGlob(glob: string): readonly string[] {
  const pieces = [''];
  for (const [part] of glob.matchAll(parts)) {
    if (part === '*') pieces.push('');
    else pieces.push(pieces.pop() + (part.startsWith('\\') ? part.slice(1) : part));
  }
  return pieces;
}

/** The pattern that matches only this text. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[*\\]/g, String.raw`\$&`);
}

/** Says what is wrong with a pattern; undefined if it is valid. */
export function findGlobMistake(glob: string):
  | {
      readonly code: 'filter/invalid' | 'filter/too-large';
      readonly message: string;
      readonly hint: string;
    }
  | undefined {
  const stars = splitGlob(glob).length - 1;
  const [count, what, max] =
    stars > globStarsMax ? [stars, '*', globStarsMax] : [glob.length, 'characters', globCharsMax];
  if (count > max) {
    const message = `the pattern has ${count} ${what}, and at most ${max} are allowed`;
    const hint = 'let one * stand for the longest part that may differ';
    return { code: 'filter/too-large', message, hint };
  }
  const doubled = glob.replaceAll(/\\([*\\])|\\/g, (part, escaped) => (escaped ? part : '\\\\'));
  if (doubled === glob) return undefined;
  const message = 'a \\ in a pattern stands only before * or \\, to match that character itself';
  const hint = `a pattern is no regular expression; to match a \\, double it: '${doubled}'`;
  return { code: 'filter/invalid', message, hint };
}
