import { boundNames, type Fields, isObject, operatorNames } from '../clause.ts';
import { escapeGlob } from '../glob.ts';
import { findBoundMistakes } from '../operand-mistakes.ts';
import { renderFlow, renderValue } from '../render-filter.ts';
import { type FilterWarning, type Remedy, regexToGlob, suggestPatterns } from './filter-warning.ts';
import { type ForeignMeaning, findForeignMeaning, isCombining } from './operator-words.ts';

/** A warning about keys of one object that look like operators. `path` starts at that object. */
export interface OperatorWarning extends FilterWarning {
  /** The keys that need no other warning. */
  readonly keys: readonly string[];
}

/**
 * Finds keys that were probably meant as operators, but are the names of fields. `field` is the key of the object, or
 * undefined for the filter itself. A field of such a name is written with an operator below it, `{ nin: { in: [x] } }`.
 */
export function findOperatorWarnings(fields: Fields, field: string | undefined): readonly OperatorWarning[] {
  const foreign = findForeign(fields, field);
  if (field === 'compare' && foreign.some(({ meaning }) => isBound(meaning)))
    return [
      explainCompare(
        foreign.map(({ key }) => key),
        fields,
      ),
    ];
  const keys = Object.keys(fields);
  // Beside others, a key below a field is one too.
  const own =
    field === undefined || keys.length === 1 ? keys.filter(key => isMeantAsOperator(key, fields[key])) : [];
  const misused =
    own.length > 0 && foreign.length === 0 ? [{ ...explainOwn(own, fields, field), keys: own }] : [];
  return [
    ...foreign.map(({ key, meaning }) => ({
      ...at([key, ...own]),
      code: 'filter/unknown-operator' as const,
      message: `${renderFlow(key)} is not an operator, so it is the name of a field`,
      remedy: remedies[meaning](field, fields[key], fields),
    })),
    ...misused,
  ];
}

function at(keys: readonly string[]) {
  return { keys, path: keys.slice(0, 1), atKey: true };
}

function findForeign(fields: Fields, field: string | undefined) {
  const keys = Object.keys(fields);
  const found = keys.flatMap(key => {
    const meaning = operatorNames.some(name => name === key) ? undefined : findForeignMeaning(key);
    return meaning ? [{ key, meaning }] : [];
  });
  const others = keys.length - found.length;
  return found.filter(({ key, meaning }) => {
    if (isCombining(meaning) || /^\$./.test(key)) return true;
    return field !== undefined && others === 0 && Array.isArray(fields[key]);
  });
}

/** Whether a key is the name of an operator without `$` whose operand would fit it in, or without, a list. */
function isMeantAsOperator(key: string, value: unknown): boolean {
  if (key === 'exists') return asExpected(value) !== undefined;
  return (
    (key === 'in' && Array.isArray(value)) || (key === 'not_in' && (Array.isArray(value) || isObject(value)))
  );
}

function isBound(meaning: ForeignMeaning): boolean {
  return meaning === 'between' || boundNames.some(name => name === meaning);
}

function explainCompare(keys: readonly string[], fields: Fields): OperatorWarning {
  const bounds = toAllBounds(fields);
  const message = 'compare is not an operator, so it is the name of a field';
  const hint = `use $compare: ${bounds ? renderValue(bounds) : '{ at_least: 5 }'} instead`;
  return { ...at(keys), code: 'filter/unknown-operator', message, remedy: { hint } };
}

/** The operand of `exists`, if necessary taken out of a list. */
function asExpected(value: unknown): boolean | undefined {
  const operand: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof operand === 'boolean' ? operand : undefined;
}

function explainOwn(
  [key = '']: readonly string[],
  fields: Fields,
  field: string | undefined,
): OperatorWarning {
  const misused = { ...at([key]), code: 'filter/operator-misused' as const };
  if (field === undefined) {
    const message = `${key} is the name of a field here, because an operator stands below a field`;
    const hint = 'write it below the field that it tests, as in action: { in: [created] }';
    return { ...misused, message, remedy: { hint } };
  }
  if (key === 'exists') {
    const write = { [field]: { exists: asExpected(fields.exists) } };
    const remedy = { write, hint: 'write exists: true or exists: false' };
    return { ...misused, message: 'exists takes true or false, not a list', remedy };
  }
  const hint = `list values, as in ${renderFlow(field)}: { ${key}: [debug] }`;
  return { ...misused, message: `${key} takes a list of values, not an object`, remedy: { hint } };
}

function asList(value: unknown): readonly unknown[] | undefined {
  const list: unknown = isObject(value) && Object.keys(value).length === 1 ? value.in : value;
  return Array.isArray(list) ? list : undefined;
}

type FindRemedy = (field: string | undefined, operand: unknown, fields: Fields) => Remedy;

/** Suggests the filter that `toValue` makes of the operand's values. */
function replaceBy(toValue: (values: readonly unknown[]) => unknown, hint: string): FindRemedy {
  return (field, operand) => {
    const values = asList(operand);
    return { hint, ...(field !== undefined && values && { write: { [field]: toValue(values) } }) };
  };
}

/** Suggests the patterns that `toGlob` makes of the operand's texts. */
function replaceByPatterns(
  operator: '$like' | '$not_like',
  toGlob: (text: string) => string | undefined,
): FindRemedy {
  const hint = `write patterns in which * stands for any characters, as in ref: { ${operator}: ["refs/tags/*"] }`;
  return (field, operand) => {
    const globs = asList(operand)?.map(value => (typeof value === 'string' ? toGlob(value) : undefined));
    const value = globs && suggestPatterns(operator, globs);
    return { hint, ...(field !== undefined && value && { write: { [field]: value } }) };
  };
}

const asPart = (text: string) => `*${escapeGlob(text)}*`;

/** Suggests the bounds that all keys of the object make together. */
const replaceByBounds: FindRemedy = (field, _, fields) => {
  const hint = 'compare numbers with bounds, as in count: { $compare: { at_least: 5, below: 10 } }';
  const $compare = toAllBounds(fields);
  return { hint, ...(field !== undefined && $compare && { write: { [field]: { $compare } } }) };
};

/** The bounds that all keys of an object make together; undefined if that is not clear. */
function toAllBounds(fields: Fields): Fields | undefined {
  const all = Object.entries(fields).flatMap(([key, operand]) => toBounds(key, asList(operand) ?? []));
  const bounds = Object.fromEntries(all);
  const isClear = Object.keys(bounds).length === all.length && findBoundMistakes(bounds).next().done;
  return isClear ? bounds : undefined;
}

function toBounds(key: string, operand: readonly unknown[]): readonly (readonly [string, unknown])[] {
  const meaning = findForeignMeaning(key);
  const [low, high] = operand.map(value => (/^-?\d+(?:\.\d+)?$/.test(String(value)) ? Number(value) : value));
  const expected = meaning === 'between' ? 2 : 1;
  if (!meaning || !isBound(meaning) || operand.length !== expected) return [[key, operand]];
  const both = [['at_least', low] as const, ['at_most', high] as const];
  return meaning === 'between' ? both : [[meaning, low]];
}

const list = 'list the allowed values, as in action: [created]';
const exclude = 'list the excluded values, as in action: { not_in: [deleted] }';
const exist = 'write exists: true or exists: false below the field';

const remedies: Readonly<Record<ForeignMeaning, FindRemedy>> = {
  in: replaceBy(values => values, list),
  not_in: replaceBy(values => ({ not_in: values }), exclude),
  exists: replaceBy(([first]) => ({ exists: first !== false }), exist),
  missing: replaceBy(([first]) => ({ exists: first === false }), exist),
  $like: replaceByPatterns('$like', glob => glob),
  $not_like: replaceByPatterns('$not_like', glob => glob),
  regex: replaceByPatterns('$like', regexToGlob),
  not_regex: replaceByPatterns('$not_like', regexToGlob),
  contains: replaceByPatterns('$like', asPart),
  not_contains: replaceByPatterns('$not_like', asPart),
  starts: replaceByPatterns('$like', text => `${escapeGlob(text)}*`),
  ends: replaceByPatterns('$like', text => `*${escapeGlob(text)}`),
  at_least: replaceByBounds,
  above: replaceByBounds,
  at_most: replaceByBounds,
  below: replaceByBounds,
  between: replaceByBounds,
  other: () => ({
    hint: 'no operator does that: list the values, write patterns with $like or a range of numbers with $compare, or let the run check the rest',
  }),
  not: replaceBy(values => ({ not_in: values }), exclude),
  or: () => ({
    hint: 'list the values of one field, or write one trigger of the same webhook for each alternative',
  }),
  and: () => ({ hint: 'write the conditions side by side: every key must match' }),
  element: () => ({
    hint: 'write the nested fields without it: one element of an array must match all of them',
  }),
};
