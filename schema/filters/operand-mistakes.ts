import { type Bounds, boundNames, type Fields, type OperandMistake } from './clause.ts';
import { findGlobMistake } from './glob.ts';
import { findForeignMeaning } from './warnings/operator-words.ts';

/** @limit Most patterns in one list of `$like` or `$not_like`: each is tried on the value, which may have 256 KB. */
export const globsMax = 50;

/** Finds what is wrong with the list of `$like` or `$not_like`. An empty list is no mistake here. */
export function* findPatternMistakes(patterns: readonly unknown[]): Generator<OperandMistake> {
  if (patterns.length > globsMax) {
    const message = `the list has ${patterns.length} patterns, and at most ${globsMax} are allowed`;
    const hint = 'let fewer patterns match more, or split them over several triggers of the same webhook';
    yield { code: 'filter/too-large', path: [], message, hint };
    return;
  }
  for (const [index, pattern] of patterns.entries()) {
    const path = [index];
    if (typeof pattern === 'string') {
      const mistake = findGlobMistake(pattern);
      if (mistake) yield { path, ...mistake };
    } else {
      const message = 'a pattern is a string, because only strings match patterns';
      const hint =
        'list other values without $like, as in [1, true], or write $compare for a range of numbers';
      yield { code: 'filter/invalid', path, message, hint };
    }
  }
}

/** The bounds of `$compare` in a JSON Schema for editors. */
export const boundsJsonSchema = {
  description: 'The range of a number: at_least or above, at_most or below, or one of each side.',
  type: 'object',
  properties: Object.fromEntries(boundNames.map(name => [name, { type: 'number' }])),
  minProperties: 1,
  additionalProperties: false,
  allOf: [['at_least', 'above'] as const, ['at_most', 'below'] as const].map(required => ({
    not: { required },
  })),
};

const boundsHint = 'write at_least or above, at_most or below, or one of each side, as in { at_least: 5 }';

/** Finds what is wrong with the bounds of `$compare`. */
export function* findBoundMistakes(bounds: Fields): Generator<OperandMistake> {
  const mistakes = Object.entries(bounds).flatMap(([name, value]) => findBoundMistake(name, value) ?? []);
  for (const mistake of mistakes) yield { code: 'filter/invalid', ...mistake };
  if (mistakes.length > 0) return;
  const { at_least, above, at_most, below } = bounds as Bounds;
  const report = (message: string, hint: string): OperandMistake => {
    return { code: 'filter/invalid', path: [], message, hint };
  };
  if (Object.keys(bounds).length === 0) yield report('$compare has no bound', boundsHint);
  else if (at_least !== undefined && above !== undefined)
    yield report('at_least and above are both the lower bound', 'keep only one of them');
  else if (at_most !== undefined && below !== undefined)
    yield report('at_most and below are both the upper bound', 'keep only one of them');
  else {
    const [low, high] = [at_least ?? above, at_most ?? below];
    if (low === undefined || high === undefined || low < high) return;
    if (low === high && at_least !== undefined && at_most !== undefined) return;
    const hint = `no number is ${describeBounds(bounds)}: correct a bound, or remove it`;
    yield report('the bounds contradict each other', hint);
  }
}

function findBoundMistake(name: string, value: unknown): Omit<OperandMistake, 'code'> | undefined {
  const path = [name];
  if (!boundNames.some(bound => bound === name)) {
    const meaning = findForeignMeaning(name);
    const bound = boundNames.find(one => one === meaning);
    const hint = bound ? `use ${bound}: ${value} instead` : boundsHint;
    return { path, message: `${JSON.stringify(name)} is not a bound of $compare`, hint };
  }
  if (typeof value === 'number') return isExact(value) ? undefined : { path, ...explainInexact(value) };
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  const hint = Number.isFinite(number)
    ? `remove the quotes: ${name}: ${number}`
    : `write a number, as in ${name}: 5`;
  return { path, message: `${name} must be a number`, hint };
}

/** Describes the bounds of `$compare` in words, such as `at least 5 and below 10`. */
export function describeBounds(bounds: Fields): string {
  return boundNames
    .filter(name => bounds[name] !== undefined)
    .map(name => `${name.replace('_', ' ')} ${bounds[name]}`)
    .join(' and ');
}

/** Whether a number equals only itself in any payload: an integer beyond 2^53-1 may be rounded. */
export function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** Explains a number that is not exact: rounded, here or in the payload, it would make a comparison a guess. */
export function explainInexact(value: number): Pick<OperandMistake, 'message' | 'hint'> {
  if (!Number.isFinite(value)) {
    return {
      message: `${value} is not a JSON number`,
      hint: 'remove it, because no payload can contain it',
    };
  }
  const message = `integers beyond ±${Number.MAX_SAFE_INTEGER} (2^53-1) cannot be compared exactly`;
  return { message, hint: 'filter on another field, or on a field with the number as a string' };
}
