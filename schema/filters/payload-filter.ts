import { z } from 'zod';
import { type DiagnosticCode, truncate } from '../diagnostics.ts';
import {
  type Fields,
  type FilterValue,
  isObject,
  type MisplacedValue,
  type PayloadFilter,
  type Scalar,
  toClause,
} from './clause.ts';

/** @limit Deepest nesting of objects in a payload filter: real payloads nest less than 10 deep. */
const filterDepthMax = 16;
/** @limit Most keys in a payload filter, on all levels together: matching a delivery takes time for each. */
const filterKeysMax = 200;
/** @limit Most keys and values in a payload filter together: a filter is written by hand, and the daemon keeps it in memory. */
const filterPartsMax = 5_000;
/** @limit Most values in one list of a payload filter: a longer list belongs in the automation itself. */
const filterValuesMax = 500;

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
    const report: Report = ({ code = 'filter/invalid', message, ...params }, path) => {
      context.issues.push({
        code: 'custom',
        input: value,
        path: [...path],
        message,
        params: { code, ...params },
      });
    };
    if (isObject(value)) {
      const mistake = describeExcessParts(value);
      if (mistake === undefined) return readFields(value, [], report);
      const hint = 'filter on the fields that distinguish deliveries, and let the run check the rest';
      report({ code: 'filter/too-large', message: mistake, hint }, []);
    } else {
      const hint =
        'write fields, as in payload: { action: [opened] }, or remove the key to match every delivery';
      report({ message: 'a payload filter must be an object whose keys name payload fields', hint }, []);
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
type Report = (mistake: FilterMistake, path: Path) => void;

interface FilterMistake {
  readonly code?: DiagnosticCode;
  readonly message: string;
  readonly hint: string;
  readonly misplaced?: MisplacedValue;
}

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
    const hint = 'filter on a field at a higher level';
    report({ code: 'filter/too-large', message, hint }, path);
    return {};
  }
  const parent = path.length === 0 ? undefined : String(path.at(-1));
  const entries = Object.entries(fields).map(([field, value]): [string, FilterValue] => [
    field,
    readValue({ field, value, isInList: false, fields, parent }, [...path, field], report),
  ]);
  return Object.fromEntries(entries);
}

function readValue(place: MisplacedValue, path: Path, report: Report): FilterValue {
  const { value } = place;
  const clause = toClause(value);
  switch (clause?.operator) {
    case undefined:
      report(explainBare(place), path);
      return [];
    case 'in':
    case 'not_in': {
      if (Array.isArray(value)) return readList(clause.values, place, path, report);
      return { [clause.operator]: readList(clause.values, place, [...path, clause.operator], report) };
    }
    case 'exists':
      return { exists: clause.expected };
    case 'nested':
      return readFields(clause.fields, path, report);
  }
}

function readList(
  values: readonly unknown[],
  place: MisplacedValue,
  path: Path,
  report: Report,
): readonly Scalar[] {
  if (values.length <= filterValuesMax) {
    return values.map((value, index) =>
      readScalar({ ...place, value, isInList: true }, [...path, index], report),
    );
  }
  const message = `the list has ${values.length} values, and at most ${filterValuesMax} are allowed`;
  const hint = 'split it over several triggers of the same webhook';
  report({ code: 'filter/too-large', message, hint }, path);
  return [];
}

function readScalar(place: MisplacedValue, path: Path, report: Report): Scalar {
  const { value } = place;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') {
    if (!isExact(value)) report(explainInexact(value), path);
    return value === 0 ? 0 : value; // JSON.stringify writes -0 as 0.
  }
  const [kind, hint] = Array.isArray(value)
    ? ['a list', 'write one flat list; an array in the payload matches if one of its elements is allowed']
    : ['an object', 'to match objects in an array, write nested fields instead of a list'];
  const message = `a list of allowed values contains strings, numbers, booleans or null, not ${kind}`;
  report({ message, hint, misplaced: place }, path);
  return null;
}

/** Whether a number equals only itself in any payload: an integer beyond 2^53-1 may be rounded. */
export function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

// An integer that may be rounded, here and in the payload, would make equality a guess.
function explainInexact(value: number): FilterMistake {
  if (!Number.isFinite(value)) {
    return {
      message: `${value} is not a JSON number`,
      hint: 'remove it, because no payload can contain it',
    };
  }
  const message = `integers beyond ±${Number.MAX_SAFE_INTEGER} (2^53-1) cannot be compared exactly`;
  return { message, hint: 'filter on another field, or on a field with the number as a string' };
}

/** Explains what to write instead of a bare scalar. */
function explainBare(misplaced: MisplacedValue): FilterMistake {
  const { field, value, fields, parent } = misplaced;
  if (typeof value === 'number' && !isExact(value)) return explainInexact(value);
  const isOnly = parent !== undefined && Object.keys(fields).length === 1;
  if (field === 'exists' && isOnly) {
    return { message: 'exists must be true or false', hint: 'write exists: true or exists: false' };
  }
  const key = renderFlow(field);
  const hint =
    value === null
      ? `write ${key}: [null] to match null, or ${key}: { exists: false } to match a missing field`
      : `write ${key}: [${renderFlow(value)}]`;
  return { message: `${key} must be a list of allowed values`, hint, misplaced };
}

/** Renders a scalar in YAML's flow style. */
export function renderFlow(value: unknown): string {
  if (typeof value !== 'string') return String(value);
  if (/^[a-z_][\w-]*$/i.test(value) && !/^(true|false|null)$/i.test(value))
    return truncate(value, quotedCharsMax);
  return truncate(JSON.stringify(value), quotedCharsMax);
}

/** @limit Most characters of a key or value that a message about a payload filter quotes: enough to recognise it. */
const quotedCharsMax = 60;
