import { findSimilar } from '../text/suggestion.ts';
import type { Clause, Scalar } from './clause.ts';
import { excerpt } from './excerpt.ts';
import { compileGlob, escapeGlob, splitGlob } from './glob.ts';
import { compileClause, type NumberReader, readHeaderNumber } from './payload-filter-match.ts';

/** @limit Most elements of an array that are searched for the one nearest to a pattern: an array may have 130,000. */
const elementsMax = 100;

/** @limit Longest text that is compared with a filter's values to find the one that was meant, in characters: values are names. */
const comparedCharsMax = 250;

/** @limit Most elements of an array that are compared with a filter's values to find the one that was meant. */
const comparedElementsMax = 20;

/** Fewest characters of a value that is suggested because another one only adds something to it. */
const stemCharsMin = 4;

/** The change of a list by which a clause would hold. */
export interface Repair {
  /** The value or pattern in the list that was probably meant. */
  readonly from: Scalar;
  readonly to: Scalar;
  /** Whether `to` is another value, which belongs beside `from` in any case. */
  readonly isAnother: boolean;
  /** How both differ. */
  readonly note: string;
}

/**
 * Finds why a clause fails a value that was probably meant: by upper and lower case, white space, type, something before or after it, a
 * slip, or because a similar value is missing from its list. Without `repair`, no list can mend it. Undefined if
 * the value is simply another one, as for `exists` and for what a clause excludes.
 */
export function findNearMiss({
  clause,
  found,
  readNumber,
}: {
  readonly clause: Clause;
  readonly found: unknown;
  readonly readNumber: NumberReader;
}): { readonly note: string; readonly repair?: Repair } | undefined {
  if (clause.operator === '$compare') {
    const isText = compileClause(clause, readHeaderNumber)(found);
    const note = isText ? describeNearMiss(clause, found, readNumber) : undefined;
    return note === undefined ? undefined : { note };
  }
  if (clause.operator !== 'in' && clause.operator !== '$like') return undefined;
  const values: readonly unknown[] = Array.isArray(found) ? found.slice(0, comparedElementsMax) : [found];
  const repair =
    clause.operator === 'in'
      ? findNearValue(clause.values as readonly Scalar[], values.filter(isComparable))
      : findNearPattern(
          clause.values.map(String),
          values.filter(value => typeof value === 'string'),
        );
  const isRepaired = repair && compileClause(repairClause(clause, repair, true), readNumber)(found);
  return isRepaired ? { note: repair.note, repair } : undefined;
}

/** The clause with the repair. A value that must stay is kept, even if only it seemed to be wrong. */
export function repairClause<C extends Clause>(
  clause: C,
  { from, to, isAnother }: Repair,
  isKept: boolean,
): C {
  if (!('values' in clause)) return clause;
  const wanted = isAnother || isKept ? [from, to] : [to];
  return {
    ...clause,
    values: [...new Set(clause.values.flatMap(value => (value === from ? wanted : [value])))],
  };
}

function isComparable(value: unknown): value is Scalar {
  if (typeof value === 'string') return value !== '' && value.length <= comparedCharsMax;
  return typeof value === 'number' || typeof value === 'boolean';
}

/** The ways in which a value is near to one of a list, the surest first. */
const likenesses: readonly {
  readonly isNear: (from: Scalar, to: Scalar) => boolean;
  readonly note: (from: string, to: string) => string;
  readonly isAnother?: true;
}[] = [
  {
    isNear: (from, to) => typeof from !== typeof to && String(from) === String(to),
    note: (from, to) => `${from} and ${to} are of different types`,
  },
  {
    isNear: ofTexts((from, to) => withOneSpace(from) === withOneSpace(to)),
    note: (from, to) => `${from} and ${to} differ only in white space`,
  },
  {
    isNear: ofTexts((from, to) => withOneSpace(from).toLowerCase() === withOneSpace(to).toLowerCase()),
    note: (from, to) => `${from} and ${to} differ only in upper and lower case`,
  },
  {
    isNear: ofTexts((from, to) => isPartOf(from, to) || isPartOf(to, from)),
    note: (from, to) => `${from} and ${to} differ only in what comes before or after`,
  },
  {
    isNear: ofTexts((from, to) => findSimilar(to, [from]) !== undefined),
    note: (from, to) => `${to} is similar to ${from}`,
  },
  {
    isNear: ofTexts((from, to) => hasStem(from, to) || hasStem(to, from)),
    note: (from, to) => `the list has ${from}, but not ${to}`,
    isAnother: true,
  },
];

function findNearValue(listed: readonly Scalar[], found: readonly Scalar[]): Repair | undefined {
  for (const { isNear, note, isAnother = false } of likenesses) {
    for (const to of found) {
      const from = listed.find(value => isNear(value, to));
      if (from !== undefined) return { from, to, isAnother, note: note(excerpt(from), excerpt(to)) };
    }
  }
  return undefined;
}

function ofTexts(isNear: (from: string, to: string) => boolean) {
  return (from: Scalar, to: Scalar) => typeof from === 'string' && typeof to === 'string' && isNear(from, to);
}

function withOneSpace(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ');
}

/** Whether a text is the beginning or the end of another one, up to a separator: `main` of `refs/heads/main`. */
function isPartOf(part: string, whole: string): boolean {
  if (part === '' || part.length >= whole.length) return false;
  const [before, after] = [whole.at(-part.length - 1) ?? '', whole[part.length] ?? ''];
  return (whole.endsWith(part) && isSeparator(before)) || (whole.startsWith(part) && isSeparator(after));
}

function isSeparator(character: string): boolean {
  return /^[\s/:.@#|]$/.test(character);
}

/** Whether one word is another one with something before or after it: `reopened` has the stem `opened`. */
function hasStem(word: string, stem: string): boolean {
  if (stem.length < stemCharsMin || word.length > 2 * stem.length) return false;
  return word.startsWith(stem) || word.endsWith(stem);
}

/** Says why a value that looks right fails `$like` or `$compare`, or which pattern came nearest; undefined if nothing did. */
export function describeNearMiss(
  clause: Clause,
  found: unknown,
  readNumber: NumberReader,
): string | undefined {
  if (found === undefined) return undefined;
  const values: readonly unknown[] = Array.isArray(found) ? found.slice(0, elementsMax) : [found];
  if (clause.operator === '$compare') return describeNoNumber(values, readNumber);
  if (clause.operator !== '$like') return undefined;
  const texts = values.filter(value => typeof value === 'string');
  if (texts.length === 0) return 'only strings match patterns';
  return describeNearestPattern(clause.values.map(String), texts);
}

function describeNoNumber(values: readonly unknown[], readNumber: NumberReader): string | undefined {
  if (values.some(value => readNumber(value) !== undefined)) return undefined;
  const written = values.find(value => readHeaderNumber(value) !== undefined);
  return `only numbers are compared${written === undefined ? '' : `, and ${excerpt(written)} is a string`}`;
}

function describeNearestPattern(patterns: readonly string[], texts: readonly string[]): string | undefined {
  const whole = findNearPattern(patterns, texts);
  if (whole) return whole.note;
  const shared = patterns.map(pattern => {
    const [literal = ''] = splitGlob(pattern);
    return { pattern, length: Math.max(...texts.map(text => countShared(literal, text))), literal };
  });
  const [nearest] = shared.toSorted((a, b) => b.length - a.length);
  if (!nearest || nearest.length === 0) return undefined;
  const { pattern, literal, length } = nearest;
  return `${excerpt(pattern)} matches as far as ${excerpt(escapeGlob(literal.slice(0, length)))}`;
}

/** Finds a pattern that a text fails by its case only, or that is a part of it, and the pattern to write instead. */
function findNearPattern(patterns: readonly string[], texts: readonly string[]): Repair | undefined {
  for (const pattern of patterns) {
    const matches = compileGlob(pattern.toLowerCase());
    const text = texts.find(text => matches(text.toLowerCase()));
    if (text === undefined) continue;
    const note = `${excerpt(pattern)} differs only in upper and lower case`;
    return { from: pattern, to: copyCase(pattern, text), isAnother: false, note };
  }
  const inside = patterns.find(pattern => texts.some(compileGlob(`*${pattern}*`)));
  if (inside === undefined) return undefined;
  const around = `*${inside}*`.replace(/^\*\*/, '*').replace(/(?<!\\)\*\*$/, '*');
  const note = `${excerpt(inside)} is only a part of the text, which ${excerpt(around)} would match`;
  return { from: inside, to: around, isAnother: false, note };
}

/** Writes a pattern with the letters of a text that matches it in lower case. */
function copyCase(pattern: string, text: string): string {
  const pieces = splitGlob(pattern);
  const [inLowerCase, last] = [text.toLowerCase(), pieces.length - 1];
  let from = 0;
  const copied = pieces.map((piece, index) => {
    const isLast = index === last && last > 0;
    const at = isLast ? text.length - piece.length : inLowerCase.indexOf(piece.toLowerCase(), from);
    from = at + piece.length;
    return escapeGlob(text.slice(at, from));
  });
  return copied.join('*');
}

/** How many characters two texts have in common at their start. */
function countShared(a: string, b: string): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}
