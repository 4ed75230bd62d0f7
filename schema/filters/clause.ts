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
  | PayloadFilter;

/** The condition that a key of a payload filter sets for its field. */
export type Clause =
  | { readonly operator: 'in' | 'not_in'; readonly values: readonly unknown[] }
  | { readonly operator: 'exists'; readonly expected: boolean }
  | { readonly operator: 'nested'; readonly fields: Fields };

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Distinguishes operators from nested objects. An operator is an object with exactly one key: `in` or `not_in` with an
 * array, or `exists` with a boolean. Every other object is nested. Returns undefined for a bare scalar, a mistake.
 */
export function toClause(value: unknown): Clause | undefined {
  if (Array.isArray(value)) return { operator: 'in', values: value };
  if (!isObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0) return { operator: 'nested', fields: value };
  const operand = value[key];
  if ((key === 'in' || key === 'not_in') && Array.isArray(operand)) return { operator: key, values: operand };
  if (key === 'exists' && typeof operand === 'boolean') return { operator: key, expected: operand };
  return { operator: 'nested', fields: value };
}

/** Whether a value is a JSON object, not null or an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
