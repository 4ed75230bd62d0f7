import { boundNames, type Fields, isObject, isPatternOperator, toClause } from '../clause.ts';
import { escapeGlob } from '../glob.ts';
import { findBoundMistakes } from '../operand-mistakes.ts';
import { renderFlow } from '../render-filter.ts';
import { type FilterWarning, type Remedy, regexToGlob, suggestPatterns } from './filter-warning.ts';
import { type ForeignMeaning, findForeignMeaning, isCombining, ownOperators } from './operator-words.ts';

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
    return [explainCompare(foreign.map(({ key }) => key))];
  const own = Object.keys(fields).filter(key => isMeantAsOperator(key, fields[key]));
  const misused = own.length > 0 && foreign.length === 0 ? [explainOwn(fields, own, field)] : [];
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
    const meaning = findForeignMeaning(key);
    return meaning ? [{ key, meaning }] : [];
  });
  const others = keys.length - found.length - keys.filter(key => ownOperators.includes(key)).length;
  return found.filter(({ key, meaning }) => {
    if (isCombining(meaning) || /^\$./.test(key)) return true;
    return field !== undefined && others === 0 && Array.isArray(fields[key]);
  });
}

/** Whether the operand of a key fits the operator of its name, or would do so without a list. */
function isMeantAsOperator(key: string, value: unknown): boolean {
  if (key === 'exists') return asExpected(value) !== undefined;
  if (key === 'in' || key === 'not_in') return Array.isArray(value) || (key === 'not_in' && isNested(value));
  return isPatternOperator(key) && Array.isArray(value) && value.every(one => typeof one === 'string');
}

function isBound(meaning: ForeignMeaning): boolean {
  return meaning === 'between' || boundNames.some(name => name === meaning);
}

function explainCompare(keys: readonly string[]): OperatorWarning {
  const message =
    'compare is the name of a field here: an operator has no keys beside it, and compare takes numbers, not lists';
  const hint = 'write it below the field that it tests, as in count: { compare: { at_least: 5 } }';
  return { ...at(keys), code: 'filter/operator-misused', message, remedy: { hint } };
}

function isNested(value: unknown): boolean {
  return isObject(value) && toClause(value)?.operator === 'nested';
}

/** The operand of `exists`, if necessary taken out of a list. */
function asExpected(value: unknown): boolean | undefined {
  const operand: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof operand === 'boolean' ? operand : undefined;
}

function asList(value: unknown): readonly unknown[] | undefined {
  const clause = toClause(value);
  return clause?.operator === 'in' ? clause.values : undefined;
}

function explainOwn(fields: Fields, own: readonly string[], field: string | undefined): OperatorWarning {
  const [first = ''] = own;
  const misused = { ...at(own), code: 'filter/operator-misused' as const };
  if (field === undefined) {
    const message = `${first} is the name of a field here, because an operator stands below a field`;
    const hint = 'write it below the field that it tests, as in action: { in: [created] }';
    return { ...misused, message, remedy: { hint } };
  }
  if (Object.keys(fields).length > 1) return { ...misused, ...explainBeside(fields, own, field) };
  if (first === 'exists') {
    const write = { [field]: { exists: asExpected(fields.exists) } };
    const remedy = { write, hint: 'write exists: true or exists: false' };
    return { ...misused, message: 'exists takes true or false, not a list', remedy };
  }
  const hint = `list values, as in ${renderFlow(field)}: { ${first}: [debug] }`;
  return { ...misused, message: `${first} takes a list of values, not an object`, remedy: { hint } };
}

type Explanation = Pick<FilterWarning, 'message' | 'remedy'> & Partial<Pick<FilterWarning, 'code'>>;

/** Explains an operator that has other keys beside it. */
function explainBeside(fields: Fields, own: readonly string[], field: string): Explanation {
  const keys = Object.keys(fields);
  const others = keys.filter(key => !own.includes(key));
  const expected = asExpected(fields.exists);
  const [allowed, excluded] = [asList(fields.in), asList(fields.not_in)];
  const left = allowed?.filter(value => !excluded?.includes(value));
  const message = `${own[0]} is the name of a field here, because an operator has no keys beside it`;
  if (expected === false && (allowed || others.length > 0)) {
    const message = `exists: false and ${renderFlow(keys.find(key => key !== 'exists') ?? '')} contradict each other: a missing field has no values and no fields`;
    return { code: 'filter/contradiction', message, remedy: { hint: 'keep only one of them' } };
  }
  if (others.length > 0) {
    const hint =
      own.length === 1 && expected === true
        ? 'remove exists: a nested field that must have a value exists'
        : 'a field has either an operator or nested fields: keep only one of them';
    return { message, remedy: { hint } };
  }
  if (allowed && left?.length === 0 && allowed.length > 0) {
    const message = 'in and not_in contradict each other: every value of in is excluded';
    return { code: 'filter/contradiction', message, remedy: { hint: 'list each value in only one of them' } };
  }
  const hint = 'keep only one of the operators';
  if (own.some(isPatternOperator)) {
    const whole = own.includes('in') ? 'like also matches whole values: list them beside the patterns' : hint;
    return { message, remedy: { hint: whole } };
  }
  if (left) return { message, remedy: { write: { [field]: left }, hint } };
  if (expected === false) return { message, remedy: { write: { [field]: { exists: false } }, hint } };
  return { message, remedy: { hint: `${hint}: not_in also matches a missing field` } };
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
  operator: 'like' | 'not_like',
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
  const hint = 'compare numbers with bounds, as in count: { compare: { at_least: 5, below: 10 } }';
  const bounds = Object.entries(fields).flatMap(([key, operand]) => toBounds(key, asList(operand) ?? []));
  const compare = Object.fromEntries(bounds);
  const isClear = Object.keys(compare).length === bounds.length && findBoundMistakes(compare).next().done;
  return { hint, ...(field !== undefined && isClear && { write: { [field]: { compare } } }) };
};

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
  like: replaceByPatterns('like', glob => glob),
  not_like: replaceByPatterns('not_like', glob => glob),
  regex: replaceByPatterns('like', regexToGlob),
  not_regex: replaceByPatterns('not_like', regexToGlob),
  contains: replaceByPatterns('like', asPart),
  not_contains: replaceByPatterns('not_like', asPart),
  starts: replaceByPatterns('like', text => `${escapeGlob(text)}*`),
  ends: replaceByPatterns('like', text => `*${escapeGlob(text)}`),
  at_least: replaceByBounds,
  above: replaceByBounds,
  at_most: replaceByBounds,
  below: replaceByBounds,
  between: replaceByBounds,
  other: () => ({
    hint: 'no operator does that: list the values, write patterns with like or a range of numbers with compare, or let the run check the rest',
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
