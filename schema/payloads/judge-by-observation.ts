import type { DiagnosticCode } from '../diagnostics.ts';
import { type FieldPath, renderPathSegment } from '../field-path.ts';
import {
  type Clause,
  type Fields,
  type ListOperator,
  type PayloadFilter,
  type Scalar,
  toClauses,
} from '../filters/clause.ts';
import { describeBounds } from '../filters/operand-mistakes.ts';
import { compileClause } from '../filters/payload-filter-match.ts';
import { renderFilter } from '../filters/render-filter.ts';
import { findSimilar, joinWithOr } from '../text/suggestion.ts';
import {
  enterArrays,
  type Observation,
  type ObservedNode,
  type ObservedType,
  observedTypes,
} from './observation.ts';
import { findExamples } from './observed-paths.ts';

/** Fewest deliveries that show that a field or value is not sent: fewer may be the test deliveries of a new webhook. */
const deliveriesMin = 3;
/** @limit Most different values of a field from which its choices are known: one with more has values of any kind. */
const choicesMax = 5;

/** A condition of a filter that no observed payload could satisfy, or that a payload could not fail. */
export interface ObservedMistake {
  readonly code: DiagnosticCode;
  /** The path from the filter to the condition. */
  readonly path: readonly string[];
  readonly message: string;
  readonly hint: string;
  /**
   * Something similar was sent, so this is a mistake whenever it is found. Otherwise it may be about an event that is
   * just rare.
   */
  readonly isCertain: boolean;
}

/** Compares a filter with the observed deliveries of its webhook. Finds nothing without deliveries. */
export function judgeByObservation(
  filter: PayloadFilter,
  { deliveries, root }: Observation,
): readonly ObservedMistake[] {
  if (deliveries === 0) return [];
  return [...judgeFields(filter, enterArrays([root]), { keys: [], path: '$', deliveries, root })].filter(
    ({ isCertain }) => isCertain || deliveries >= deliveriesMin,
  );
}

interface Place {
  readonly keys: readonly string[];
  /** The keys as a JSONPath. */
  readonly path: string;
  readonly deliveries: number;
  readonly root: ObservedNode;
}

function* judgeFields(
  fields: Fields,
  nodes: readonly ObservedNode[],
  above: Place,
): Generator<ObservedMistake> {
  for (const [key, value] of Object.entries(fields)) {
    const clauses = toClauses(value) ?? [];
    const place = { ...above, keys: [...above.keys, key], path: above.path + renderPathSegment(key) };
    const found = nodes.flatMap(node => node.fields.get(key) ?? []);
    if (found.length === 0 && !nodes.some(node => node.hasMoreFields))
      yield* judgeMissing(key, clauses, nodes, above, place);
    for (const clause of found.length === 0 ? [] : clauses) {
      if (clause.operator === '$none') yield* judgeNone(clause.fields, found, place);
      else if (clause.operator === 'object') {
        yield* judgeList(key, clause.fields, found, place);
        yield* judgeFields(clause.fields, enterArrays(found), place);
      } else yield* judgeClause(clause, found, place);
    }
  }
}

/** Judges what no element may be. That none was is no mistake, unless something similar was sent. */
function* judgeNone(
  fields: Fields,
  found: readonly ObservedNode[],
  place: Place,
): Generator<ObservedMistake> {
  for (const mistake of judgeFields(fields, enterArrays(found), place)) {
    const path = [...place.keys, '$none', ...mistake.path.slice(place.keys.length)];
    if (mistake.isCertain) yield { ...mistake, path };
  }
}

/** Warns of nested fields for a list that only exclude, because one element that is not excluded is enough for them. */
function* judgeList(
  key: string,
  fields: Fields,
  found: readonly ObservedNode[],
  { keys, path }: Place,
): Generator<ObservedMistake> {
  const isList = found.some(({ elements }) => elements && elements.fields.size > 0);
  if (!isList || !excludesOnly(fields)) return;
  const message = `${path} is a list, and one element that is not excluded is enough to match`;
  const $none = invert(fields);
  const hint = $none
    ? `write ${renderFilter({ [key]: { $none } })}`
    : 'write what no element may be below $none';
  yield { code: 'filter/any-element', path: keys, message, hint, isCertain: true };
}

function excludesOnly(fields: Fields): boolean {
  const clauses = Object.values(fields).flatMap(value => toClauses(value) ?? []);
  return clauses.every(clause =>
    clause.operator === 'object'
      ? excludesOnly(clause.fields)
      : /^not_in$|^\$not_like$/.test(clause.operator),
  );
}

/** The nested fields that ask for what others exclude; undefined if they exclude more than one value by itself. */
function invert(fields: Fields): Fields | undefined {
  const [[key, value] = [''], ...others] = Object.entries(fields);
  const [clause, ...more] = toClauses(value) ?? [];
  if (!clause || others.length > 0 || more.length > 0) return undefined;
  if ('values' in clause)
    return { [key]: clause.operator === '$not_like' ? { $like: clause.values } : clause.values };
  const below = 'fields' in clause ? invert(clause.fields) : undefined;
  return below && { [key]: below };
}

function* judgeMissing(
  key: string,
  clauses: readonly Clause[],
  nodes: readonly ObservedNode[],
  above: Place,
  place: Place,
): Generator<ObservedMistake> {
  const similar = findSimilar(
    key,
    nodes.flatMap(({ fields }) => [...fields.keys()]),
  );
  const other =
    similar === undefined
      ? findElsewhere(key, place.root)
      : { path: above.path + renderPathSegment(similar), deliveries: countDeliveries(similar, nodes) };
  // A condition for a missing field, such as not_in, holds: it is a usual guard unless something similar exists.
  if (!other && !clauses.some(isNeeded)) return;
  const none = `${place.path} occurs in ${describeNone(place.deliveries)}`;
  yield {
    code: 'filter/field-not-sent',
    path: place.keys,
    message: other ? `${none}; ${other.path} in ${other.deliveries}` : none,
    hint: other ? `did you mean ${other.path}?` : 'compare it with `hookmill payloads describe`',
    isCertain: other !== undefined,
  };
}

function describeNone(deliveries: number): string {
  return deliveries === 1 ? 'not the last delivery' : `none of the last ${deliveries} deliveries`;
}

function countDeliveries(key: string, nodes: readonly ObservedNode[]): number {
  return Math.max(...nodes.map(({ fields }) => fields.get(key)?.deliveries ?? 0));
}

/** Whether a clause fails if its field is missing. */
function isNeeded(clause: Clause): boolean {
  return !compileClause(clause)(undefined);
}

/** Finds the only other place with a field of that name, breadth first. */
function findElsewhere(
  key: string,
  root: ObservedNode,
): { readonly path: string; readonly deliveries: number } | undefined {
  const found: { path: string; deliveries: number }[] = [];
  const waiting = [{ node: root, path: '$' }];
  for (const { node, path } of waiting) {
    if (node.elements) waiting.push({ node: node.elements, path: `${path}[*]` });
    for (const [name, child] of node.fields) {
      const at = path + renderPathSegment(name);
      if (name === key) found.push({ path: at, deliveries: child.deliveries });
      waiting.push({ node: child, path: at });
    }
  }
  return found.length === 1 ? found[0] : undefined;
}

function* judgeClause(
  clause: Exclude<Clause, { fields: Fields }>,
  found: readonly ObservedNode[],
  place: Place,
): Generator<ObservedMistake> {
  if (clause.operator === 'exists') {
    const always = found.some(({ deliveries }) => deliveries === place.deliveries);
    if (clause.expected || !always || place.keys.length > 1) return;
    const message = `${place.path} occurs in each of the last ${place.deliveries} deliveries`;
    const hint = 'to match null, write [null]; exists: false matches only a missing field';
    yield { code: 'filter/value-not-sent', path: place.keys, message, hint, isCertain: false };
  } else {
    const { operator } = clause;
    const mistake =
      operator === 'in' || operator === 'not_in'
        ? judgeValues(clause.values as readonly Scalar[], operator, found, place)
        : judgePatternOrRange(clause, found, place);
    if (mistake) yield { ...mistake, path: place.keys };
  }
}

type ValueMistake = Omit<ObservedMistake, 'path'>;

function judgeValues(
  wanted: readonly Scalar[],
  operator: 'in' | 'not_in',
  found: readonly ObservedNode[],
  { path, keys, deliveries }: Place,
): ValueMistake | undefined {
  if (wanted.length === 0) return undefined;
  const sent = enterArrays(found);
  const types = findTypes(sent);
  const typed = wanted.filter(value => value !== null);
  if (types.size === 0) return undefined;
  const examples = listExamples(sent, keys);
  if (typed.length > 0 && !typed.some(value => types.has(typeof value)))
    return explainType(typed, types, examples, path);
  if (sent.some(({ hasMoreScalars }) => hasMoreScalars)) return undefined;
  const seen = new Set(sent.flatMap(({ scalars }) => [...scalars.keys()]));
  const unseen = wanted.filter(value => !seen.has(value));
  const shown = examples.filter(value => typeof value === 'string');
  for (const value of unseen) {
    const similar = typeof value === 'string' ? findSimilarValue(value, shown, wanted) : undefined;
    if (similar === undefined) continue;
    const message = `${path} is ${JSON.stringify(value)} in ${describeNone(deliveries)}, but ${JSON.stringify(similar)} in some`;
    return {
      code: 'filter/value-not-sent',
      message,
      hint: `did you mean ${JSON.stringify(similar)}?`,
      isCertain: true,
    };
  }
  if (operator === 'not_in' || unseen.length < wanted.length || seen.size > choicesMax) return undefined;
  return explainUnseen(`is ${quoteChoices(wanted)}`, seen, examples, { path, deliveries });
}

function quoteChoices(values: readonly unknown[]): string {
  return joinWithOr(values.slice(0, choicesMax).map(value => JSON.stringify(value)));
}

/** Says that a field never has what is asked for, and what it has instead if all of that may be shown. */
function explainUnseen(
  asked: string,
  seen: ReadonlySet<Scalar>,
  examples: readonly Scalar[],
  { path, deliveries }: Pick<Place, 'path' | 'deliveries'>,
): ValueMistake {
  const values = examples.map(value => JSON.stringify(value)).join(', ');
  const count = seen.size - (seen.has(null) ? 1 : 0);
  const instead = examples.length === count ? `; it is ${count === 1 ? 'always' : 'one of'} ${values}` : '';
  return {
    code: 'filter/value-not-sent',
    message: `${path} ${asked} in ${describeNone(deliveries)}${instead}`,
    hint: 'correct the value, or keep it if the event is only rare',
    isCertain: false,
  };
}

/** The types of the values that were sent. A null says nothing about the type of a field: it stands for no value. */
function findTypes(sent: readonly ObservedNode[]): Set<string> {
  const types = new Set(
    sent.flatMap(node => observedTypes.filter(type => node.types[type] > 0).map(toJsonType)),
  );
  types.delete('null');
  return types;
}

function listExamples(sent: readonly ObservedNode[], keys: readonly string[]): readonly Scalar[] {
  return sent.flatMap(node => findExamples(node, keys)).filter(value => value !== null);
}

function judgePatternOrRange(
  clause: Extract<Clause, { operator: ListOperator | '$compare' }>,
  found: readonly ObservedNode[],
  { path, keys, deliveries }: Place,
): ValueMistake | undefined {
  const sent = enterArrays(found);
  const types = findTypes(sent);
  const examples = listExamples(sent, keys);
  const [type, asked] =
    clause.operator === '$compare'
      ? ['number', `is ${describeBounds(clause.bounds)}`]
      : ['string', `matches ${quoteChoices(clause.values)}`];
  if (types.size > 0 && !types.has(type)) {
    const message = `${path}: a ${type} is asked for, but ${describeSent(types, examples)}`;
    const hint = types.has('object')
      ? 'write nested fields for an object'
      : type === 'number'
        ? '$compare takes no text: list the values as they are sent'
        : 'only strings match patterns: list the values, or write $compare for a range of numbers';
    return { code: 'filter/type-not-sent', message, hint, isCertain: true };
  }
  if (types.size === 0 || clause.operator === '$not_like' || sent.some(node => node.hasMoreScalars))
    return undefined;
  const seen = new Set(sent.flatMap(({ scalars }) => [...scalars.keys()]));
  if ([...seen].some(compileClause(clause)) || seen.size > choicesMax) return undefined;
  return explainUnseen(asked, seen, examples, { path, deliveries });
}

/** Finds a value that was sent and is not listed, but differs from a listed one only by a slip. */
function findSimilarValue(
  value: string,
  sent: readonly string[],
  wanted: readonly Scalar[],
): string | undefined {
  return findSimilar(
    value,
    sent.filter(other => !wanted.includes(other)),
  );
}

function explainType(
  wanted: readonly Scalar[],
  types: ReadonlySet<string>,
  examples: readonly Scalar[],
  path: string,
): ValueMistake {
  const asked = JSON.stringify(wanted[0] ?? null);
  const message = `${path}: ${asked} is asked for, but ${describeSent(types, examples)}`;
  const same = wanted.map(
    value => examples.find(other => String(other) === String(value)) ?? convert(value, types),
  );
  const hint = same.every(value => value !== undefined)
    ? `write ${JSON.stringify(same).replaceAll(',', ', ')}: values are compared without conversion`
    : types.has('object')
      ? 'write nested fields for an object'
      : 'values are compared without conversion: write them as they are sent';
  return { code: 'filter/type-not-sent', message, hint, isCertain: true };
}

function describeSent(types: ReadonlySet<string>, examples: readonly Scalar[]): string {
  const sent = [...types].filter(type => type !== 'array' || types.size === 1);
  const [first] = examples;
  const example = first === undefined ? '' : `, such as ${JSON.stringify(first)}`;
  return `${joinWithOr(sent.map(type => typeNames[type] ?? type))} were sent${example}`;
}

/** The same value in a type that was sent. */
function convert(value: Scalar, types: ReadonlySet<string>): Scalar | undefined {
  if (types.has('string')) return value === null ? undefined : String(value);
  if (types.has('number') && typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value))
    return Number(value);
  if (types.has('boolean') && typeof value === 'string' && /^(?:true|false)$/i.test(value))
    return value.toLowerCase() === 'true';
  return undefined;
}

const typeNames: Readonly<Record<string, string>> = {
  null: 'nulls',
  boolean: 'booleans',
  number: 'numbers',
  string: 'strings',
  object: 'objects',
  array: 'empty arrays',
};

function toJsonType(type: ObservedType): string {
  return type === 'integer' ? 'number' : type;
}

/** Finds the reason why a path has no value in any observed payload; undefined if it may have one. */
export function judgePathByObservation(
  path: FieldPath,
  text: string,
  observation: Observation,
): Pick<ObservedMistake, 'message' | 'hint' | 'isCertain'> | undefined {
  const keys = path.filter(step => typeof step === 'string');
  // A filter judges the elements of a list together, so an index is no part of it.
  const filter = keys.reduceRight<object>((below, key) => ({ [key]: below }), { exists: true });
  const [missing] = keys.length === 0 ? [] : judgeByObservation(filter as PayloadFilter, observation);
  if (missing) return missing;
  const { null: _, object, array, ...scalars } = sumTypes(path, observation);
  if (object + array === 0 || Object.values(scalars).some(values => values > 0)) return undefined;
  const [what, example] = object > 0 ? ['an object', `${text}.id`] : ['a list', `${text}[0]`];
  return {
    message: `${text} is ${what} in the last ${observation.deliveries} deliveries, which counts as no value`,
    hint: `name a part of it, such as ${example}`,
    isCertain: true,
  };
}

/** Counts the values of each type at a path. */
function sumTypes(path: FieldPath, { root }: Observation) {
  const nodes = path.reduce(
    (above, step) =>
      above.flatMap(node => (typeof step === 'number' ? node.elements : node.fields.get(step)) ?? []),
    [root],
  );
  const sum = { null: 0, boolean: 0, integer: 0, number: 0, string: 0, object: 0, array: 0 };
  for (const { types } of nodes) for (const type of observedTypes) sum[type] += types[type];
  return sum;
}
