import { renderFlow } from '../payload-filter.ts';
import type { FilterWarning, Remedy } from './filter-warning.ts';
import { hasStrayCharacter, removeStrayCharacters } from './stray-character.ts';

/** A list of values in a filter. */
export interface FilterList {
  readonly field: string;
  readonly operator: 'in' | 'not_in';
  readonly values: readonly unknown[];
}

/** Finds values of a list that no payload has, or that are there twice. Paths start at the list. */
export function findListWarnings(list: FilterList): readonly FilterWarning[] {
  if (list.values.length === 0) return [explainEmptyList(list)];
  const first = new Set<unknown>();
  return list.values.flatMap((value, index): FilterWarning[] => {
    const about = { path: [index], atKey: false };
    if (first.has(value)) {
      const message = `${renderFlow(value)} is in the list twice`;
      return [{ ...about, code: 'filter/repeated-value', message, remedy: { hint: 'remove one of them' } }];
    }
    first.add(value);
    const found = typeof value === 'string' ? findTextWarning(value, list) : undefined;
    return found ? [{ ...about, ...found }] : [];
  });
}

function explainEmptyList({ field, operator }: FilterList): FilterWarning {
  const about = { code: 'filter/empty', path: [], atKey: false } as const;
  if (operator === 'in') {
    const hint = `list the allowed values, or write ${renderFlow(field)}: { exists: false } to match a missing field`;
    return { ...about, message: 'an empty list allows no value, so it never matches', remedy: { hint } };
  }
  const hint = 'list the excluded values, or remove the key';
  return { ...about, message: 'an empty not_in excludes no value, so it always matches', remedy: { hint } };
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
  for (const { kind, pattern, toRemedy } of patterns) {
    const match = pattern.exec(text);
    if (!match) continue;
    const message = `${renderFlow(text)} looks like ${kind}, but a value is compared character by character`;
    return { code: 'filter/pattern', message, remedy: toRemedy(match, list, replace) };
  }
  return undefined;
}

function replaceValue({ field, operator, values }: FilterList, old: string, wanted: readonly string[]) {
  const replaced = [
    ...new Set(values.flatMap((value): readonly unknown[] => (value === old ? wanted : [value]))),
  ];
  return { [field]: operator === 'in' ? replaced : { not_in: replaced } };
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

const whole = { hint: 'list whole values, or let the run check the rest' };

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
    pattern: /\$?\{\{.*\}\}|\$\{\w+\}/,
    toRemedy: () => ({ hint: 'write the value itself' }),
  },
  {
    kind: 'a comparison',
    pattern: /^(?:[<>]=?\s*-?\d+(?:\.\d+)?|[!=]==?.+)$/,
    toRemedy: () => ({
      hint: 'numbers are only compared for equality: list the allowed ones, or let the run compare them',
    }),
  },
  {
    kind: 'a regular expression',
    pattern: /^[a-z_]+(?:\|[a-z_]+)+$/i,
    toRemedy: ([text], _, replace) => ({ ...replace(...text.split('|')), ...whole }),
  },
  {
    kind: 'a regular expression',
    pattern:
      /^\^([\w /:-]*)\$?$|^\/\^.*\/[a-z]*$|^\^|\\[dDwWsSb]|\.[*+](?:$|[$)?])|\[[a-z0-9]-[a-z0-9][^\]]*\]/,
    toRemedy: ([text, literal], _, replace) =>
      literal && text.endsWith('$') ? { ...replace(literal), ...whole } : whole,
  },
  {
    kind: 'a wildcard',
    pattern: /^(?!\S*\*{3})(?=\S*\*)(?=\S*[^\s*])\S+$/,
    toRemedy: () => whole,
  },
];
