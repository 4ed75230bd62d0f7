import {
  type Fields,
  hasOperator,
  isObject,
  type MisplacedValue,
  type PayloadFilter,
  toClauses,
} from '../clause.ts';
import { isExact } from '../operand-mistakes.ts';
import { renderFilter, renderFlow, renderValue } from '../render-filter.ts';
import type { FilterWarning, Remedy } from './filter-warning.ts';
import { findKeyWarning } from './key-warnings.ts';
import { findOperatorWarnings } from './operator-warnings.ts';
import { findListWarnings } from './value-warnings.ts';

/** A warning with its hint. */
export interface ExplainedWarning extends Omit<FilterWarning, 'remedy'> {
  readonly hint: string;
}

/** Finds the parts of valid conditions for headers or claims that probably match never, always, or something else than meant. */
export function findConditionWarnings(conditions: Fields): readonly ExplainedWarning[] {
  return [...findInConditions(conditions)].map(warning => explain(warning, findInConditions));
}

/** Finds the parts of a valid filter that are legal, but probably match never, always, or something else than meant. */
export function findFilterWarnings(filter: PayloadFilter): readonly ExplainedWarning[] {
  return [...findInFilter(filter)].map(warning => explain(warning));
}

/**
 * Finds what is wrong with a value of a wrong type, apart from its type: `regex: "^x"` is not mended by brackets, and
 * `[{ prefix: v }]` not by removing them.
 */
export function explainMisplaced(place: MisplacedValue): ExplainedWarning | undefined {
  const found = place.isInList ? findInListed(place) : findInBare(place);
  return found && explain(found);
}

function findInBare({ field: key, fields, parent }: MisplacedValue): FilterWarning | undefined {
  const listed = listScalars(fields);
  const isOperator = parent !== undefined && hasOperator(listed);
  const operators = isOperator ? [] : findOperatorWarnings(listed, parent);
  const all = isOperator ? findInValue(parent, listed, []) : findInObject(listed, parent, []);
  return operators.find(({ keys }) => keys.includes(key)) ?? [...all].find(({ path }) => path[0] === key);
}

/**
 * Suggests the value to write for a field whose condition consists of operators of other tools, with texts as operands,
 * or of one operator without its list; undefined if that is not clear.
 */
export function suggestCondition(fields: Fields): string | undefined {
  const listed = listScalars(fields);
  if (hasOperator(listed)) return toClauses(listed) && renderValue(listed);
  const texts = Object.entries(listed).map(([key, list]): [string, unknown] => [
    key,
    Array.isArray(list) ? list.map(String) : list,
  ]);
  const field = 'field';
  const [found] = findOperatorWarnings(Object.fromEntries(texts), field);
  return found && renderWritten(found.remedy)?.slice(`${field}: `.length);
}

function findInListed({ field, value }: MisplacedValue): FilterWarning | undefined {
  if (!isObject(value)) return undefined;
  if (!hasOperator(value)) {
    const [found] = findOperatorWarnings(listScalars(value), field);
    return found && { ...found, atKey: false };
  }
  const message = 'an operator stands in place of the list, not inside it';
  const remedy = {
    ...(toClauses(value) && { write: { [field]: value } }),
    hint: 'write the operator without the list',
  };
  return { code: 'filter/operator-misused', path: [], atKey: false, message, remedy };
}

function listScalars(fields: Fields): Fields {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'object' && value !== null ? value : [value]]),
  );
}

function* findInObject(
  fields: Fields,
  field: string | undefined,
  path: FilterWarning['path'],
): Generator<FilterWarning> {
  const operators = findOperatorWarnings(fields, field);
  const explained = new Set(operators.flatMap(({ keys }) => keys));
  for (const warning of operators) yield { ...warning, path: [...path, ...warning.path] };
  const inLowerCase = new Map<string, string>();
  for (const [key, value] of Object.entries(fields)) {
    if (explained.has(key)) continue;
    const lower = key.toLowerCase();
    const alike = inLowerCase.get(lower);
    inLowerCase.set(lower, key);
    if (alike !== undefined) yield explainCase(key, alike, path);
    const warning = findKeyWarning(key, fields, field === undefined);
    if (warning) yield { ...warning, path: [...path, ...warning.path] };
    yield* findInValue(key, value, [...path, key]);
  }
}

function explainCase(key: string, alike: string, path: FilterWarning['path']): FilterWarning {
  const message = `the keys ${renderFlow(alike)} and ${renderFlow(key)} differ only in case, and both must match`;
  const remedy = { hint: 'keep the one that the payload has' };
  return { code: 'filter/case-collision', path: [...path, key], atKey: true, message, remedy };
}

function* findInValue(field: string, value: unknown, path: FilterWarning['path']): Generator<FilterWarning> {
  const operators = isObject(value) && hasOperator(value) ? value : undefined;
  for (const clause of toClauses(value) ?? []) {
    const { operator } = clause;
    const above = operators ? [...path, operator] : path;
    if ('fields' in clause) yield* findInObject(clause.fields, field, above);
    else if ('values' in clause)
      for (const warning of findListWarnings({ field, operator: clause.operator, values: clause.values })) {
        const remedy = operators ? keepOthers(warning.remedy, field, operators, operator) : warning.remedy;
        yield { ...warning, path: [...above, ...warning.path], remedy };
      }
  }
}

/** Keeps the other operators of a field beside what a remedy writes instead of one; only the hint if both have the same. */
function keepOthers(
  { write, ...remedy }: Remedy,
  field: string,
  operators: Fields,
  replaced: string,
): Remedy {
  const { [replaced]: _, ...others } = operators;
  const written = write?.[field];
  const added = Array.isArray(written) ? { in: written } : written;
  if (Object.keys(others).length === 0 || !isObject(added)) return { ...remedy, write };
  const isClear = !Object.keys(added).some(key => key in others);
  return { ...remedy, ...(isClear && { write: { [field]: { ...others, ...added } } }) };
}

function findInFilter(filter: Fields): Generator<FilterWarning> {
  return findInObject(filter, undefined, []);
}

function* findInConditions(conditions: Fields): Generator<FilterWarning> {
  for (const [name, value] of Object.entries(conditions)) yield* findInValue(name, value, [name]);
}

function explain(
  { code, path, atKey, message, remedy }: FilterWarning,
  find = findInFilter,
): ExplainedWarning {
  return { code, path, atKey, message, hint: renderRemedy(remedy, find) };
}

/** No hint suggests a filter that would itself be refused or warned about. */
function renderRemedy(remedy: Remedy, find: typeof findInFilter): string {
  const written = renderWritten(remedy, find);
  return written === undefined ? remedy.hint : `write ${written}${remedy.where ?? ''}`;
}

function renderWritten({ write }: Remedy, find = findInFilter): string | undefined {
  if (!write || !hasExactValues(write) || !find(write).next().done) return undefined;
  return renderFilter(write);
}

function hasExactValues(value: unknown): boolean {
  if (typeof value === 'number') return isExact(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(hasExactValues);
}
