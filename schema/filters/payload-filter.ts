import { z } from 'zod';
import type { DiagnosticCode } from '../diagnostics.ts';
import {
  type Clause,
  type Fields,
  type FilterValue,
  findOperatorMistakes,
  fitsOperator,
  hasOperator,
  isMarked,
  isObject,
  isPatternOperator,
  type MisplacedValue,
  makeOperatorsSchema,
  type OperandMistake,
  type Operators,
  operatorNames,
  type PayloadFilter,
  type Scalar,
  toClauses,
} from './clause.ts';
import {
  boundsJsonSchema,
  explainInexact,
  findBoundMistakes,
  findPatternMistakes,
  globsMax,
  isExact,
} from './operand-mistakes.ts';
import { renderFlow } from './render-filter.ts';

/** @limit Deepest nesting of objects in a payload filter: real payloads nest less than 10 deep. */
const filterDepthMax = 16;
/** @limit Most keys in a payload filter, on all levels together: matching a delivery takes time for each. */
const filterKeysMax = 200;
/** @limit Most keys and values in a payload filter together: a filter is written by hand, and the daemon keeps it in memory. */
const filterPartsMax = 5_000;
/** @limit Most values in one list of a payload filter: a longer list belongs in the automation itself. */
const filterValuesMax = 500;

// No field has the name of an operator with `$`.
const nestedFields = {
  propertyNames: { not: { enum: operatorNames.filter(isMarked) } },
  additionalProperties: { $ref: '#/definitions/filterValue' },
};

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
    ...nestedFields,
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

/** The operators in words, with an operand to fill in. */
export const operatorTexts: Readonly<
  Record<keyof Operators<Scalar>, { readonly description: string; readonly operand: unknown }>
> = {
  in: { description: 'One of these values.', operand: ['$1'] },
  not_in: { description: 'None of these values; a missing field matches.', operand: ['$1'] },
  exists: { description: 'Whether the field exists.', operand: true },
  $like: {
    description: 'A text that one of these patterns matches as a whole; * stands for any characters.',
    operand: ['$1*'],
  },
  $not_like: {
    description: 'No text that one of these patterns matches; a missing field matches.',
    operand: ['$1*'],
  },
  $compare: {
    description: 'A number in this range: at_least or above, at_most or below.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of the editor.
    operand: { at_least: '${1:0}' },
  },
  $none: {
    description: 'A list of which no element matches; a missing or empty list matches.',
    operand: { '${1:name}': ['$2'] },
  },
};

const scalars = {
  type: 'array',
  items: { type: ['string', 'number', 'boolean', 'null'] },
  maxItems: filterValuesMax,
};
const patterns = { type: 'array', items: { type: 'string' }, maxItems: globsMax };
const field = { allOf: [{ type: 'object' }, { $ref: '#/definitions/filterValue' }] };

/** The `definitions` of any JSON Schema that contains `payloadFilterSchema`, which refers to itself. */
export const filterDefinitions = {
  filterValue: {
    description: `A list of allowed values, operators that must all hold (${operatorNames.join(', ')}) or an object of nested fields. An array in the payload matches if one of its elements does.`,
    anyOf: [
      scalars,
      makeOperatorsSchema({
        in: scalars,
        not_in: scalars,
        exists: { type: 'boolean' },
        $like: patterns,
        $not_like: patterns,
        $compare: { $ref: '#/definitions/bounds' },
        $none: { $ref: '#/definitions/fields' },
      }),
      { $ref: '#/definitions/fields' },
    ],
    defaultSnippets: [
      { label: '[ … ]', description: operatorTexts.in.description, body: ['$1'] },
      ...Object.entries(operatorTexts).map(([label, { description, operand }]) => {
        return { label, description, body: { [label.replace('$', '\\$')]: operand } };
      }),
    ],
  },
  // A list below `in` or `not_in` makes them operators.
  fields: { type: 'object', properties: { in: field, not_in: field }, ...nestedFields },
  bounds: boundsJsonSchema,
};

type Path = readonly (string | number)[];
type Report = (mistake: FilterMistake, path: Path) => void;

interface FilterMistake {
  readonly code?: DiagnosticCode;
  readonly atKey?: boolean;
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

/** Counts the fields, further operators of a field, and values at this level and below, down to the deepest level that is allowed. */
export function countParts(fields: Fields, depth = 1) {
  const parts = { keys: 0, values: 0, patterns: 0 };
  for (const value of Object.values(fields)) {
    const clauses = toClauses(value) ?? [];
    parts.keys += Math.max(1, clauses.length);
    for (const clause of clauses) {
      if ('values' in clause) {
        parts.values += clause.values.length;
        if (isPatternOperator(clause.operator)) parts.patterns += clause.values.length;
      }
      if (!('fields' in clause) || depth >= filterDepthMax) continue;
      const below = countParts(clause.fields, depth + 1);
      parts.keys += below.keys;
      parts.values += below.values;
      parts.patterns += below.patterns;
    }
  }
  return parts;
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
  const { field, value } = place;
  if (isMarked(field)) {
    const hint = 'write it below the field that it tests, as in ref: { $like: ["v*"] }';
    const message = `${field} is an operator, and stands below a field`;
    report({ code: 'filter/operator-misused', atKey: true, message, hint }, path);
    return [];
  }
  if (Array.isArray(value)) return readList(value, place, path, report);
  if (isObject(value))
    return hasOperator(value) ? readOperators(value, place, path, report) : readFields(value, path, report);
  report(explainBare(place), path);
  return [];
}

function readOperators(
  operators: Fields,
  place: MisplacedValue,
  path: Path,
  report: Report,
): Operators<Scalar> {
  for (const { path: below, ...mistake } of findOperatorMistakes(operators)) {
    const field = String(below[0]);
    const value = operators[field];
    const isBare = isMarked(field) && !fitsOperator(field, value) && !isObject(value);
    const misplaced = { field, value, isInList: false, fields: operators, parent: place.field };
    const hint = isPatternOperator(field)
      ? `write ${renderFlow(place.field)}: { ${field}: [${renderFlow(String(value))}] }`
      : mistake.hint;
    report({ ...mistake, ...(isBare && { hint, misplaced }) }, [...path, ...below]);
  }
  const entries = toClauses(operators)?.map(clause => [
    clause.operator,
    readOperand(clause, place, [...path, clause.operator], report),
  ]);
  return Object.fromEntries(entries ?? []);
}

function readOperand(clause: Clause, place: MisplacedValue, path: Path, report: Report): unknown {
  switch (clause.operator) {
    case 'in':
    case 'not_in':
      return readList(clause.values, place, path, report);
    case '$like':
    case '$not_like':
      reportAll(findPatternMistakes(clause.values), path, report);
      return clause.values;
    case '$compare':
      reportAll(findBoundMistakes(clause.bounds), path, report);
      // JSON.stringify writes -0 as 0.
      return Object.fromEntries(
        Object.entries(clause.bounds).map(([name, bound]) => [name, bound === 0 ? 0 : bound]),
      );
    case 'exists':
      return clause.expected;
    default: {
      if (!hasOperator(clause.fields)) return readFields(clause.fields, path, report);
      const hint = 'for elements that are no objects, write not_in or $not_like instead of $none';
      const message = `${clause.operator} takes the fields of an element`;
      report({ code: 'filter/operator-misused', message, hint }, path);
    }
  }
}

function reportAll(mistakes: Iterable<OperandMistake>, path: Path, report: Report): void {
  for (const { path: below, ...mistake } of mistakes) report(mistake, [...path, ...below]);
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

/** Explains what to write instead of a bare scalar. */
function explainBare(misplaced: MisplacedValue): FilterMistake {
  const { field, value, fields, parent } = misplaced;
  if (typeof value === 'number' && !isExact(value)) return explainInexact(value);
  if (field === 'exists' && parent !== undefined && Object.keys(fields).length === 1) {
    return { message: 'exists must be true or false', hint: 'write exists: true or exists: false' };
  }
  const key = renderFlow(field);
  const hint =
    value === null
      ? `write ${key}: [null] to match null, or ${key}: { exists: false } to match a missing field`
      : `write ${key}: [${renderFlow(value)}]`;
  return { message: `${key} must be a list of allowed values`, hint, misplaced };
}
