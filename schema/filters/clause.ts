export type Scalar = string | number | boolean | null;

/** A payload filter, as definition files and the applied state contain it: plain JSON. Each key names a payload field. */
export interface PayloadFilter {
  readonly [field: string]: FilterValue;
}

export type FilterValue =
  | readonly Scalar[]
  | { readonly in: readonly Scalar[] }
  | { readonly not_in: readonly Scalar[] }
  | { readonly exists: boolean }
  | { readonly like: readonly string[] }
  | { readonly not_like: readonly string[] }
  | { readonly compare: Bounds }
  | PayloadFilter;

/** The bounds of a number: one on each side at most. */
export interface Bounds {
  readonly at_least?: number;
  readonly above?: number;
  readonly at_most?: number;
  readonly below?: number;
}

/** The names of the bounds, in the order in which they are written. */
export const boundNames = ['at_least', 'above', 'at_most', 'below'] as const satisfies (keyof Bounds)[];

const listOperators = ['in', 'not_in', 'like', 'not_like'] as const;

/** An operator that takes a list: of values, or of patterns. */
export type ListOperator = (typeof listOperators)[number];

/** The condition that a key of a payload filter sets for its field. */
export type Clause =
  | { readonly operator: ListOperator; readonly values: readonly unknown[] }
  | { readonly operator: 'exists'; readonly expected: boolean }
  | { readonly operator: 'compare'; readonly bounds: Fields }
  | { readonly operator: 'nested'; readonly fields: Fields };

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Distinguishes operators from nested objects. An operator is an object with exactly one key: `in`, `not_in`, `like` or
 * `not_like` with an array, `exists` with a boolean, or `compare` with an object of bare scalars, which nothing else
 * could be. Every other object is nested. Returns undefined for a bare scalar, a mistake.
 */
export function toClause(value: unknown): Clause | undefined {
  if (Array.isArray(value)) return { operator: 'in', values: value };
  if (!isObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0) return { operator: 'nested', fields: value };
  const operand = value[key];
  const listed = listOperators.find(operator => operator === key);
  if (listed && Array.isArray(operand)) return { operator: listed, values: operand };
  if (key === 'exists' && typeof operand === 'boolean') return { operator: key, expected: operand };
  if (key === 'compare' && isObject(operand) && hasOnlyScalars(operand))
    return { operator: key, bounds: operand };
  return { operator: 'nested', fields: value };
}

/** The JSON Schema for editors of an operator with its operand. */
export function makeOperatorSchema(name: string, operand: object) {
  return {
    type: 'object',
    properties: { [name]: operand },
    required: [name],
    additionalProperties: false,
  };
}

/** Whether the operator of this name takes a list of patterns. */
export function isPatternOperator(name: string): boolean {
  return name === 'like' || name === 'not_like';
}

// Not `{ exists: true }`, which is an operator for a field named `compare`.
function hasOnlyScalars(operand: Fields): boolean {
  const isExists = toClause(operand)?.operator === 'exists';
  return !isExists && Object.values(operand).every(value => typeof value !== 'object' || value === null);
}

/** Whether a value is a JSON object, not null or an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A condition in a header filter that is neither a list nor one operator. */
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
