import { isPatternOperator, type ListOperator } from '../clause.ts';
import { escapeGlob, splitGlob } from '../glob.ts';
import { renderFlow, renderValue } from '../render-filter.ts';
import {
  type FilterWarning,
  hasStrayCharacter,
  type Remedy,
  regexToGlob,
  removeStrayCharacters,
  suggestPatterns,
} from './filter-warning.ts';

/** A list of values or patterns in a filter. */
export interface FilterList {
  readonly field: string;
  readonly operator: ListOperator;
  readonly values: readonly unknown[];
}

/** Finds values of a list that no payload has, or that are there twice. Paths start at the list. */
export function findListWarnings(list: FilterList): readonly FilterWarning[] {
  if (list.values.length === 0) return [explainEmptyList(list)];
  const first = new Set<unknown>();
  const found = list.values.flatMap((value, index): FilterWarning[] => {
    const about = { path: [index], atKey: false };
    if (first.has(value)) {
      const message = `${renderFlow(value)} is in the list twice`;
      return [{ ...about, code: 'filter/repeated-value', message, remedy: { hint: 'remove one of them' } }];
    }
    first.add(value);
    const found = typeof value === 'string' ? findTextWarning(value, list) : undefined;
    return found ? [{ ...about, ...found }] : [];
  });
  return found.length > 0 ? found : findStarless(list);
}

/** Warns about patterns that are all whole values, because a part of the text may have been meant. */
function findStarless({ field, operator, values }: FilterList): readonly FilterWarning[] {
  const pieces = values.map(value => splitGlob(String(value)));
  if (!isPatternOperator(operator) || pieces.some(({ length }) => length > 1)) return [];
  const name = renderFlow(field);
  const [list, part] = [renderValue(pieces.flat()), `*${values[0]}*`];
  const write = operator === '$like' ? list : `{ not_in: ${list} }`;
  const message = `${operator} without a * matches only whole values`;
  const hint = `for whole values, write ${name}: ${write}; for a part of the text, ${name}: { ${operator}: [${renderFlow(part)}] }`;
  return [{ code: 'filter/pattern', path: [], atKey: false, message, remedy: { hint } }];
}

function explainEmptyList({ field, operator }: FilterList): FilterWarning {
  const about = { code: 'filter/empty', path: [], atKey: false } as const;
  if (operator === 'in' || operator === '$like') {
    const hint = `list the allowed values, or write ${renderFlow(field)}: { exists: false } to match a missing field`;
    return { ...about, message: 'an empty list allows no value, so it never matches', remedy: { hint } };
  }
  const hint = 'list the excluded values, or remove the key';
  return {
    ...about,
    message: `an empty ${operator} excludes no value, so it always matches`,
    remedy: { hint },
  };
}

type TextWarning = Pick<FilterWarning, 'code' | 'message' | 'remedy'>;

function findTextWarning(text: string, list: FilterList): TextWarning | undefined {
  if (plainText.test(text)) return undefined;
  const replace = (...values: readonly string[]) => ({ write: replaceValue(list, text, values) });
  const clean = removeStrayCharacters(text);
  if (hasStrayCharacter(text) && !clean.includes('\n')) {
    const message = `the value ${renderFlow(text)} has spaces or invisible characters at its ends`;
    const remedy = { ...replace(clean), hint: 'write the value without them' };
    return { code: 'filter/stray-character', message, remedy };
  }
  const quoted = quotedText.test(text) ? text.slice(1, -1) : undefined;
  if (quoted !== undefined) {
    const message = `the quotes in ${renderFlow(text)} are a part of the value`;
    const remedy = { ...replace(quoted), hint: 'write the value with only one kind of straight quotes' };
    return { code: 'filter/stray-character', message, remedy };
  }
  const isPattern = isPatternOperator(list.operator);
  for (const { kind, pattern, toRemedy } of isPattern ? foreignPatterns : patterns) {
    const match = pattern.exec(text);
    if (!match) continue;
    const rule = isPattern ? 'in a pattern only * is special' : 'a value is compared character by character';
    const message = `${renderFlow(text)} looks like ${kind}, but ${rule}`;
    return { code: 'filter/pattern', message, remedy: toRemedy(match, list, replace) };
  }
  return undefined;
}

function replaceValue({ field, operator, values }: FilterList, old: string, wanted: readonly string[]) {
  const replaced = [
    ...new Set(values.flatMap((value): readonly unknown[] => (value === old ? wanted : [value]))),
  ];
  return { [field]: operator === 'in' ? replaced : { [operator]: replaced } };
}

/** Suggests `$like` or `$not_like` for the list, in which a pattern takes the place of one text. */
function suggestPattern(
  { field, operator, values }: FilterList,
  old: string,
  glob: string | undefined,
): Pick<Remedy, 'write'> {
  const isPattern = isPatternOperator(operator);
  const toGlob = (value: unknown) =>
    typeof value !== 'string' ? undefined : value === old ? glob : isPattern ? value : toListed(value);
  const like = operator === 'in' || operator === '$like' ? '$like' : '$not_like';
  const value = suggestPatterns(like, values.map(toGlob));
  return value ? { write: { [field]: value } } : {};
}

/** The pattern that another value of the same list stands for: it may be meant as one too. */
function toListed(value: string): string {
  return wildcard.test(value) ? value : escapeGlob(value);
}

// What most values are, so that they need no other test.
const plainText = /^\w(?:[\w -]*\w)?$/;
const quotedText = /^(?:'[^']+'|"[^"]+"|`[^`]+`|[“„][^“”]+[”“]|[‘‚][^‘’]+[’‘])$/;

interface Pattern {
  readonly kind: string;
  readonly pattern: RegExp;
  readonly toRemedy: (
    match: RegExpExecArray,
    list: FilterList,
    replace: (...values: readonly string[]) => Pick<Remedy, 'write'>,
  ) => Remedy;
}

const whole = { hint: 'list whole values, write patterns with $like, or let the run check the rest' };
const wildcard = /^(?!\S*\*{3})(?=\S*\*)(?=\S*[^\s*])\S+$/;
const expression = /\$?\{\{.*\}\}|\$\{\w+\}/;
const regex =
  /^\^([\w /:-]*)\$?$|^\/\^.*\/[a-z]*$|^\^|\\[dDwWsSb]|\.[*+](?:$|[$)?])|\[[a-z0-9]-[a-z0-9][^\]]*\]/;
const comparison = /^([<>]=?)\s*(-?\d+(?:\.\d+)?)$/;
const bounds: Readonly<Record<string, string>> = {
  '>': 'above',
  '>=': 'at_least',
  '<': 'below',
  '<=': 'at_most',
};

// The notations of other tools that no usual value has. A literal text of this form gets a needless warning.
const patterns: readonly Pattern[] = [
  {
    kind: 'a wildcard',
    pattern: /^\*\*?$/,
    toRemedy: (_, { field, operator }) => ({
      write: { [field]: { exists: operator === 'in' } },
      hint: 'write exists: true to match any value',
    }),
  },
  {
    kind: 'an expression',
    pattern: expression,
    toRemedy: () => ({ hint: 'write the value itself' }),
  },
  {
    kind: 'a comparison',
    pattern: /^(?:[<>]=?\s*-?\d+(?:\.\d+)?|[!=]==?.+)$/,
    toRemedy: ([text], { field, operator, values }) => {
      const [, sign = '', number] = comparison.exec(text) ?? [];
      const isOnly = operator === 'in' && values.length === 1 && number !== undefined;
      const write = { [field]: { $compare: { [bounds[sign] ?? '']: Number(number) } } };
      const hint =
        'compare numbers with bounds, as in count: { $compare: { above: 5 } }, and exclude values with not_in';
      return { hint, ...(isOnly && { write }) };
    },
  },
  {
    kind: 'a regular expression',
    pattern: /^[a-z_]+(?:\|[a-z_]+)+$/i,
    toRemedy: ([text], _, replace) => ({ ...replace(...text.split('|')), ...whole }),
  },
  {
    kind: 'a regular expression',
    pattern: regex,
    toRemedy: ({ input }, list) => ({ ...suggestPattern(list, input, regexToGlob(input)), ...whole }),
  },
  {
    kind: 'a wildcard',
    pattern: wildcard,
    toRemedy: ([text], list) => ({ ...suggestPattern(list, text, text), ...whole }),
  },
];

const starOnly = { hint: 'write * for any characters, and several patterns for alternatives' };

// The notations of other tools in a pattern.
const foreignPatterns: readonly Pattern[] = [
  { kind: 'an expression', pattern: expression, toRemedy: () => ({ hint: 'write the pattern itself' }) },
  {
    kind: 'a regular expression',
    pattern: regex,
    toRemedy: ({ input }, list) => ({ ...suggestPattern(list, input, regexToGlob(input)), ...starOnly }),
  },
  {
    kind: 'a pattern of SQL',
    pattern: /^%[^*]*$|^[^*]*%$/,
    toRemedy: ([text], _, replace) => ({ ...replace(text.replaceAll(/^%|%$/g, '*')), ...starOnly }),
  },
  {
    kind: 'a choice',
    pattern: /\{[^{}]+,[^{}]+\}/,
    toRemedy: () => starOnly,
  },
];
