export type Scalar = string | number | boolean | null;

/** A payload filter, as definition files and the applied state contain it: plain JSON. Each key names a payload field. */
export interface PayloadFilter {
  readonly [field: string]: FilterValue;
}

export type FilterValue = readonly Scalar[] | Operators<Scalar> | PayloadFilter;

/** The operators of one field with their operands: all must hold. Those with `$` are not in the specification of the service. */
export interface Operators<Value> {
  readonly in?: readonly Value[];
  readonly not_in?: readonly Value[];
  readonly exists?: boolean;
  readonly $like?: readonly string[];
  readonly $not_like?: readonly string[];
  readonly $compare?: Bounds;
  readonly $none?: PayloadFilter;
}

/** The bounds of a number: one on each side at most. */
export interface Bounds {
  readonly at_least?: number;
  readonly above?: number;
  readonly at_most?: number;
  readonly below?: number;
}

/** The names of the bounds, in the order in which they are written. */
export const boundNames = ['at_least', 'above', 'at_most', 'below'] as const satisfies (keyof Bounds)[];

/** The operators, and whether a value is of the type that each takes. */
const operandTests: Readonly<Record<keyof Operators<unknown>, (operand: unknown) => boolean>> = {
  in: Array.isArray,
  not_in: Array.isArray,
  exists: operand => typeof operand === 'boolean',
  $like: Array.isArray,
  $not_like: Array.isArray,
  $compare: isObject,
  $none: isObject,
};

/** The names of the operators, as they are written. */
export const operatorNames = Object.keys(operandTests) as (keyof Operators<unknown>)[];

/** An operator that takes a list: of values, or of patterns. */
export type ListOperator = 'in' | 'not_in' | '$like' | '$not_like';

/** A condition for a field. `object` stands for nested fields: it needs an object, or a list with one, that satisfies all. */
export type Clause =
  | { readonly operator: ListOperator; readonly values: readonly unknown[] }
  | { readonly operator: 'exists'; readonly expected: boolean }
  | { readonly operator: '$compare'; readonly bounds: Fields }
  | { readonly operator: '$none'; readonly fields: Fields }
  | { readonly operator: 'object'; readonly fields: Fields };

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the conditions that a key of a filter sets for its field; all must hold. Returns undefined for a mistake: a bare
 * scalar, an operator with another key beside it, or an operand of a wrong type.
 */
export function toClauses(value: unknown): readonly Clause[] | undefined {
  if (Array.isArray(value)) return [{ operator: 'in', values: value }];
  if (!isObject(value)) return undefined;
  if (!hasOperator(value)) return [{ operator: 'object', fields: value }];
  const operators = Object.entries(value);
  if (!operators.every(([key, operand]) => fitsOperator(key, operand))) return undefined;
  return operators.map(([key, operand]) => toClause(key, operand));
}

function toClause(operator: string, operand: unknown): Clause {
  if (operator === 'exists') return { operator, expected: operand === true };
  if (operator === '$compare') return { operator, bounds: operand as Fields };
  if (operator === '$none') return { operator, fields: operand as Fields };
  return { operator: operator as ListOperator, values: operand as readonly unknown[] };
}

/** Whether an object has operators. Without one, its keys are the names of fields. */
export function hasOperator(fields: Fields): boolean {
  return Object.keys(fields).some(key => isOperatorKey(key, fields));
}

/** Whether a key of an object is an operator: one with `$` always, another only if its operand has the right type. */
function isOperatorKey(key: string, fields: Fields): boolean {
  return isMarked(key) || fitsOperator(key, fields[key]);
}

/** Whether a key is an operator with `$`, whatever its operand. */
export function isMarked(key: string): boolean {
  return key.startsWith('$') && Object.hasOwn(operandTests, key);
}

/** Whether a key is the name of an operator, and the operand of the type that it takes. */
export function fitsOperator(key: string, operand: unknown): boolean {
  return Object.hasOwn(operandTests, key) && operandTests[key as keyof Operators<unknown>](operand);
}

/** What is wrong with the operators of a field, with an operand, or with a part of it. */
export interface OperandMistake {
  readonly code: 'filter/invalid' | 'filter/too-large' | 'filter/operator-misused' | 'filter/contradiction';
  /** The path from the operators or the operand to the mistake. */
  readonly path: readonly (string | number)[];
  /** Whether the key at the path is wrong, not its value. */
  readonly atKey?: boolean;
  readonly message: string;
  readonly hint: string;
}

/** The operand that each operator takes, in words. */
const operandHints: Readonly<Record<string, string>> = {
  in: 'a list of values, as in in: [error]',
  not_in: 'a list of values, as in not_in: [debug]',
  exists: 'exists: true or exists: false',
  $like: 'a list of patterns, as in $like: ["v*"]',
  $not_like: 'a list of patterns, as in $not_like: ["v*"]',
  $compare: 'bounds, as in $compare: { at_least: 5 }',
  $none: 'nested fields, as in $none: { name: [wip] }, or not_in for plain values',
};

/** Finds what is wrong with the operators of one field together, and with the types of their operands. */
export function* findOperatorMistakes(fields: Fields): Generator<OperandMistake> {
  const keys = Object.keys(fields);
  const operator = keys.find(key => isOperatorKey(key, fields));
  const other = keys.find(key => !isOperatorKey(key, fields) && !Object.hasOwn(operandHints, key));
  const misfit = keys.find(key => !fitsOperator(key, fields[key]));
  if (other !== undefined && operator !== undefined) yield explainBeside(other, operator);
  else if (misfit !== undefined) {
    const message = `${misfit} has an operand of a wrong type`;
    const hint = `write ${operandHints[misfit]}`;
    yield { code: 'filter/invalid', path: [misfit], message, hint };
  } else yield* findContradictions(fields);
}

function explainBeside(other: string, operator: string): OperandMistake {
  const meant = operatorNames.find(name => name === `$${other}`);
  const hint = meant
    ? `write ${meant} instead of ${other}`
    : `keep only operators (${operatorNames.join(', ')}) or only nested fields`;
  const message = `${JSON.stringify(other)} is no operator, so it cannot stand beside ${operator}`;
  return { code: 'filter/operator-misused', path: [other], atKey: true, message, hint };
}

function* findContradictions(fields: Fields): Generator<OperandMistake> {
  const code = 'filter/contradiction';
  const listOf = (key: string) => (Array.isArray(fields[key]) ? (fields[key] as readonly unknown[]) : []);
  for (const [index, value] of listOf('not_in').entries()) {
    if (!listOf('in').includes(value)) continue;
    const message = `in and not_in both list ${JSON.stringify(value)}`;
    yield { code, path: ['not_in', index], message, hint: 'list each value in only one of them' };
  }
  const needed =
    ['in', '$like'].find(key => listOf(key).length > 0) ?? ('$compare' in fields ? '$compare' : undefined);
  if (fields.exists !== false || needed === undefined) return;
  const message = `exists: false and ${needed} contradict each other: a missing field has no value`;
  yield { code, path: ['exists'], message, hint: 'keep only one of them' };
}

/** The JSON Schema for editors of operators, with the schemas of their operands. */
export function makeOperatorsSchema(operands: Readonly<Partial<Record<keyof Operators<unknown>, object>>>) {
  return { type: 'object', properties: operands, minProperties: 1, additionalProperties: false };
}

/** Whether the operator of this name takes a list of patterns. */
export function isPatternOperator(name: string): boolean {
  return name === '$like' || name === '$not_like';
}

/** Whether a value is a JSON object, not null or an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A condition in a header filter that is neither a list nor operators. */
export interface ForeignCondition {
  /** The name of the header. */
  readonly name: string;
  readonly fields: Fields;
}

/** A value of a wrong type in a filter: a bare scalar that is not in a list, or an object inside a list. */
export interface MisplacedValue {
  /** The key of the value or, in a list, of the list. */
  readonly field: string;
  readonly value: unknown;
  readonly isInList: boolean;
  /** The object that contains the field. */
  readonly fields: Fields;
  /** The key of that object; undefined for the filter itself. */
  readonly parent: string | undefined;
}
