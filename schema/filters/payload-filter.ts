import { z } from 'zod';
import type { DiagnosticCode } from '../diagnostics.ts';

/** @limit Deepest nesting of objects in a payload filter: real payloads nest less than 10 deep. */
const filterDepthMax = 16;
/** @limit Most keys in a payload filter, over all levels: matching a delivery takes time for each. */
const filterKeysMax = 200;
/** @limit Most values in one list of a payload filter: a longer list belongs in the automation itself. */
const filterValuesMax = 500;

export type Scalar = string | number | boolean | null;

/** A payload filter as it is written and as applied state keeps it: plain JSON. Each key names a payload field. */
export interface PayloadFilter {
  readonly [field: string]: FilterValue;
}

export type FilterValue =
  | readonly Scalar[]
  | { readonly in: readonly Scalar[] }
  | { readonly not_in: readonly Scalar[] }
  | { readonly exists: boolean }
  | PayloadFilter;

/** What a key of a payload filter asks of its field. */
export type Clause =
  | { readonly operator: 'in' | 'not_in'; readonly values: readonly unknown[] }
  | { readonly operator: 'exists'; readonly expected: boolean }
  | { readonly operator: 'nested'; readonly fields: Fields };

export type Fields = Readonly<Record<string, unknown>>;

/**
 * The rule that tells operators from nested objects: an operator is an object with exactly one key, `in` or
 * `not_in` with an array or `exists` with a boolean; each other object is nested. A bare scalar, always a mistake,
 * is no clause.
 */
export function clauseOf(value: unknown): Clause | undefined {
  if (Array.isArray(value)) return { operator: 'in', values: value };
  if (!isObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if (key === undefined || others.length > 0) return { operator: 'nested', fields: value };
  const operand = value[key];
  if ((key === 'in' || key === 'not_in') && Array.isArray(operand)) return { operator: key, values: operand };
  if (key === 'exists' && typeof operand === 'boolean') return { operator: key, expected: operand };
  return { operator: 'nested', fields: value };
}

/** Whether a value is a JSON object: neither null nor an array. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Checks a payload filter as it comes from YAML or from applied state, and reports every mistake in it with
 * `params: {code, hint}`. The root's keys are always fields, so `{exists: true}` there is a bare scalar.
 *
 * It is not a `z.record`, which would drop a field named `__proto__`.
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
      const keys = countKeys(value, 1);
      if (keys <= filterKeysMax) return readFields(value, [], report);
      report(
        'filter/too-large',
        [],
        `a payload filter has at most ${filterKeysMax} keys over all levels, this one ${keys}`,
        'filter on the fields that tell deliveries apart, and leave the rest to the run',
      );
    } else {
      const hint =
        'write fields, as in payload: { action: [opened] }; without payload: every delivery matches';
      report('filter/invalid', [], 'a payload filter is an object whose keys name payload fields', hint);
    }
    return z.NEVER;
  });

/** `definitions` of a JSON Schema that holds `payloadFilterSchema`, which refers to itself. */
export const filterDefinitions = {
  filterValue: {
    description:
      'The allowed values as a list; an operator: in, not_in or exists; or an object of nested fields. A field that is an array matches if one of its elements does.',
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
      { label: 'exists', description: 'Whether the field is there.', body: { exists: true } },
    ],
  },
};

type Path = readonly (string | number)[];
type Report = (code: DiagnosticCode, path: Path, message: string, hint?: string) => void;

/** Fields named at this level and below, as far down as a filter may nest. */
function countKeys(fields: Fields, depth: number): number {
  const nested = Object.values(fields).map(value => {
    const clause = clauseOf(value);
    return clause?.operator === 'nested' && depth < filterDepthMax ? countKeys(clause.fields, depth + 1) : 0;
  });
  return nested.reduce((sum, keys) => sum + keys, nested.length);
}

/** The same filter, rebuilt; `Object.fromEntries` keeps `__proto__` an own key. */
function readFields(fields: Fields, path: Path, report: Report): PayloadFilter {
  if (path.length >= filterDepthMax) {
    const hint = 'filter on a field further out';
    report('filter/too-large', path, `a payload filter nests at most ${filterDepthMax} objects`, hint);
    return {};
  }
  const alone = Object.keys(fields).length === 1;
  const entries = Object.entries(fields).map(([field, value]): [string, FilterValue] => [
    field,
    readValue(value, [...path, field], report, () => bareHint(field, value, alone && path.length > 0)),
  ]);
  return Object.fromEntries(entries);
}

function readValue(value: unknown, path: Path, report: Report, hintIfBare: () => string): FilterValue {
  const clause = clauseOf(value);
  if (clause === undefined) {
    const message = `${flow(path.at(-1))} has a bare value, not a list of allowed values`;
    report('filter/invalid', path, message, hintIfBare());
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
      `a list has at most ${filterValuesMax} values, this one ${values.length}`,
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
    ? ['a list', 'an array in the payload matches if one of its elements is allowed: write one list']
    : [
        'an object',
        'to match the objects in an array, write a nested object: one element must satisfy all of it',
      ];
  report('filter/invalid', path, `a list holds strings, numbers, booleans and null, not ${kind}`, hint);
  return null;
}

// An integer beyond 2^53-1 may be the rounding of another one, here and in the payload: equality would be a guess.
function readNumber(value: number, path: Path, report: Report): number {
  if (!Number.isFinite(value)) {
    report('filter/invalid', path, `${value} is not a JSON number`, 'remove it: no payload has it');
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    const message = `an integer beyond ±${Number.MAX_SAFE_INTEGER} (2^53-1) cannot be compared exactly`;
    report('filter/invalid', path, message, 'filter on another field, or on a string form of the number');
  }
  return value === 0 ? 0 : value; // -0 is 0, as it will be when it is read back from JSON.
}

function bareHint(field: string, value: unknown, alone: boolean): string {
  const key = flow(field);
  if (field === 'exists' && alone) return 'write exists: true or exists: false';
  if (value === null)
    return `write ${key}: [null] for an explicit null, ${key}: { exists: false } for a missing field`;
  const bracketed = `write ${key}: [${flow(value)}]`;
  const operator = field === 'in' || field === 'not_in' || field === 'exists';
  return operator && !alone
    ? `${bracketed}; beside other keys, or at the top, ${field} is a field and no operator`
    : bracketed;
}

/** A scalar as one would write it in YAML's flow style. */
function flow(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  if (/^[a-z_][\w-]*$/i.test(value) && !/^(true|false|null)$/i.test(value)) return cut(value);
  return cut(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
