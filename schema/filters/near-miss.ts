import type { Clause } from './clause.ts';
import { excerpt } from './excerpt.ts';
import { compileGlob, escapeGlob, splitGlob } from './glob.ts';
import { type NumberReader, readHeaderNumber } from './payload-filter-match.ts';

/** @limit Most elements of an array that are searched for the one nearest to a pattern: an array may have 130,000. */
const elementsMax = 100;

/** Says why a value that looks right fails `like` or `compare`, or which pattern came nearest; undefined if nothing did. */
export function describeNearMiss(
  clause: Clause,
  found: unknown,
  readNumber: NumberReader,
): string | undefined {
  if (found === undefined) return undefined;
  const values: readonly unknown[] = Array.isArray(found) ? found.slice(0, elementsMax) : [found];
  if (clause.operator === 'compare') return describeNoNumber(values, readNumber);
  if (clause.operator !== 'like') return undefined;
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
  const inLowerCase = texts.map(text => text.toLowerCase());
  const otherCase = patterns.find(pattern => inLowerCase.some(compileGlob(pattern.toLowerCase())));
  if (otherCase !== undefined) return `${excerpt(otherCase)} differs only in upper and lower case`;
  const inside = patterns.find(pattern => texts.some(compileGlob(`*${pattern}*`)));
  if (inside !== undefined) {
    const around = `*${inside}*`.replace(/^\*\*/, '*').replace(/(?<!\\)\*\*$/, '*');
    return `${excerpt(inside)} is only a part of the text, which ${excerpt(around)} would match`;
  }
  const shared = patterns.map(pattern => {
    const [literal = ''] = splitGlob(pattern);
    return { pattern, length: Math.max(...texts.map(text => countShared(literal, text))), literal };
  });
  const [nearest] = shared.toSorted((a, b) => b.length - a.length);
  if (!nearest || nearest.length === 0) return undefined;
  const { pattern, literal, length } = nearest;
  return `${excerpt(pattern)} matches as far as ${excerpt(escapeGlob(literal.slice(0, length)))}`;
}

/** How many characters two texts have in common at their start. */
function countShared(a: string, b: string): number {
  let count = 0;
  while (count < a.length && a[count] === b[count]) count++;
  return count;
}
