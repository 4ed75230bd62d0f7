import { z } from 'zod';
import { type DiagnosticCode, truncate } from '../diagnostics.ts';

/** @limit Deepest nesting of objects in a payload filter: real payloads nest less than 10 deep. */
const filterDepthMax = 16;
/** @limit Most keys in a payload filter, on all levels together: matching a delivery takes time for each. */
const filterKeysMax = 200;
/** @limit Most keys and values in a payload filter together: a filter is written by hand, and the daemon keeps it in memory. */
const filterPartsMax = 5_000;
/** @limit Most values in one list of a payload filter: a longer list belongs in the automation itself. */
const filterValuesMax = 500;

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

/**
 * Checks a payload filter from YAML or from the applied state, and reports every mistake in it with
 * `params: {code, hint}`. The keys of the root are always fields, so `exists: true` there is a bare scalar.
 *
 * Not a `z.record`, which would drop a field named `__proto__`.
 */
export const payloadFilterSchema: z.ZodType<PayloadFilter> = z
  .unknown()
  .meta({
    type: 'object',
    additionalProperties: { $ref: '#/definitions/filterValue' },
    examples: [
      { action: ['created', 'reopened'], issue: { level: { not_in: ['debug'] }, muted: { exists: false } } },
    ],
  })
  .transform((value, context): PayloadFilter => {
    const report: Report = (code, path, message, hint) => {
      context.issues.push({ code: 'custom', input: value, path: [...path], message, params: { code, hint } });
    };
    if (isObject(value)) {
      const mistake = describeExcessParts(value);
      if (mistake === undefined) return readFields(value, [], report);
      const hint = 'filter on the fields that distinguish deliveries, and let the run check the rest';
      report('filter/too-large', [], mistake, hint);
    } else {
      const hint =
        'write fields, as in payload: { action: [opened] }, or remove the key to match every delivery';
      report('filter/invalid', [], 'a payload filter must be an object whose keys name payload fields', hint);
    }
    return z.NEVER;
  });

/** The `definitions` of any JSON Schema that contains `payloadFilterSchema`, which refers to itself. */
export const filterDefinitions = {
  filterValue: {
    description:
      'A list of allowed values, an operator (in, not_in or exists) or an object of nested fields. An array in the payload matches if one of its elements does.',
    anyOf: [
      {
        type: 'array',
        items: { type: ['string', 'number', 'boolean', 'null'] },
        maxItems: filterValuesMax,
      },
      {
        type: 'object',
        properties: { exists: { type: 'boolean' } },
        required: ['exists'],
        additionalProperties: false,
      },
      { type: 'object', additionalProperties: { $ref: '#/definitions/filterValue' } },
    ],
    defaultSnippets: [
      { label: '[ … ]', description: 'One of these values.', body: ['$1'] },
      { label: 'in', description: 'One of these values.', body: { in: ['$1'] } },
      {
        label: 'not_in',
        description: 'None of these values; a missing field matches.',
        body: { not_in: ['$1'] },
      },
      { label: 'exists', description: 'Whether the field exists.', body: { exists: true } },
    ],
  },
};

type Path = readonly (string | number)[];
type Report = (code: DiagnosticCode, path: Path, message: string, hint?: string) => void;

function describeExcessParts(filter: Fields): string | undefined {
  const { keys, values } = countParts(filter);
  if (keys > filterKeysMax)
    return `the payload filter has ${keys} keys, and at most ${filterKeysMax} are allowed on all levels together`;
  if (keys + values <= filterPartsMax) return undefined;
  return `the payload filter has ${keys + values} keys and values, and at most ${filterPartsMax} are allowed`;
}

/** Counts the fields and their values at this level and below, down to the deepest level that is allowed. */
export function countParts(fields: Fields, depth = 1): { readonly keys: number; readonly values: number } {
  let [keys, values] = [0, 0];
  for (const value of Object.values(fields)) {
    const clause = toClause(value);
    keys++;
    if (clause?.operator === 'in' || clause?.operator === 'not_in') values += clause.values.length;
    if (clause?.operator !== 'nested' || depth >= filterDepthMax) continue;
    const below = countParts(clause.fields, depth + 1);
    keys += below.keys;
    values += below.values;
  }
  return { keys, values };
}

/** Checks and rebuilds a filter. `Object.fromEntries` keeps `__proto__` an own key. */
function readFields(fields: Fields, path: Path, report: Report): PayloadFilter {
  if (path.length >= filterDepthMax) {
    const message = `a payload filter may nest at most ${filterDepthMax} levels deep`;
    report('filter/too-large', path, message, 'filter on a field at a higher level');
    return {};
  }
  const isOnly = Object.keys(fields).length === 1;
  const entries = Object.entries(fields).map(([field, value]): [string, FilterValue] => [
    field,
    readValue(value, [...path, field], report, () => explainBare(field, value, isOnly && path.length > 0)),
  ]);
  return Object.fromEntries(entries);
}

function readValue(value: unknown, path: Path, report: Report, explain: () => Explanation): FilterValue {
  const clause = toClause(value);
  if (clause === undefined) {
    const { message, hint } = explain();
    report('filter/invalid', path, message, hint);
    return [];
  }
  switch (clause.operator) {
    case 'in':
    case 'not_in': {
      if (Array.isArray(value)) return readList(clause.values, path, report);
      return { [clause.operator]: readList(clause.values, [...path, clause.operator], report) };
    }
    case 'exists':
      return { exists: clause.expected };
    case 'nested':
      return readFields(clause.fields, path, report);
  }
}

function readList(values: readonly unknown[], path: Path, report: Report): readonly Scalar[] {
  if (values.length > filterValuesMax) {
    report(
      'filter/too-large',
      path,
      `the list has ${values.length} values, and at most ${filterValuesMax} are allowed`,
      'split it over several triggers of the same webhook',
    );
    return [];
  }
  return values.map((value, index) => readScalar(value, [...path, index], report));
}

function readScalar(value: unknown, path: Path, report: Report): Scalar {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return readNumber(value, path, report);
  const [kind, hint] = Array.isArray(value)
    ? ['a list', 'write one flat list; an array in the payload matches if one of its elements is allowed']
    : ['an object', 'to match objects in an array, write nested fields instead of a list'];
  const message = `a list of allowed values contains strings, numbers, booleans or null, not ${kind}`;
  report('filter/invalid', path, message, hint);
  return null;
}

// An integer beyond 2^53-1 may be rounded, here and in the payload, so equality would be a guess.
function readNumber(value: number, path: Path, report: Report): number {
  if (!Number.isFinite(value)) {
    report(
      'filter/invalid',
      path,
      `${value} is not a JSON number`,
      'remove it, because no payload can contain it',
    );
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const message = `integers beyond ±${Number.MAX_SAFE_INTEGER} (2^53-1) cannot be compared exactly`;
    report(
      'filter/invalid',
      path,
      message,
      'filter on another field, or on a field with the number as a string',
    );
  }
  return value === 0 ? 0 : value; // JSON.stringify writes -0 as 0.
}

interface Explanation {
  readonly message: string;
  readonly hint: string;
}

/** Explains what to write instead of a bare scalar. `mayBeOperator`: the field is the only key of a nested object. */
function explainBare(field: string, value: unknown, mayBeOperator: boolean): Explanation {
  if (field === 'exists' && mayBeOperator) {
    return { message: 'exists must be true or false', hint: 'write exists: true or exists: false' };
  }
  const message = `${renderFlow(field)} must be a list of allowed values`;
  return { message, hint: bareHint(field, value, mayBeOperator) };
}

function bareHint(field: string, value: unknown, mayBeOperator: boolean): string {
  const key = renderFlow(field);
  if (value === null)
    return `write ${key}: [null] to match null, or ${key}: { exists: false } to match a missing field`;
  const bracketed = `write ${key}: [${renderFlow(value)}]`;
  const isOperatorName = field === 'in' || field === 'not_in' || field === 'exists';
  return isOperatorName && !mayBeOperator
    ? `${bracketed}; ${field} is the name of a field here, because an operator must be the only key below a field`
    : bracketed;
}

/** Renders a scalar in YAML's flow style. */
function renderFlow(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  if (/^[a-z_][\w-]*$/i.test(value) && !/^(true|false|null)$/i.test(value))
    return truncate(value, quotedCharsMax);
  return truncate(JSON.stringify(value), quotedCharsMax);
}

/** @limit Most characters of a key or value that a message about a payload filter quotes: enough to recognise it. */
const quotedCharsMax = 60;
