import { z } from 'zod';
import type { DiagnosticCode } from '../diagnostics.ts';
import { eventHeaderCharsMax, findHeaderNameMistake, headerNamePattern, keepHeadersMax } from '../headers.ts';
import {
  type Clause,
  type ForeignCondition,
  findOperatorMistakes,
  hasOperator,
  isObject,
  makeOperatorsSchema,
  type OperandMistake,
  type Operators,
  toClauses,
} from './clause.ts';
import { boundsJsonSchema, findBoundMistakes, findPatternMistakes, globsMax } from './operand-mistakes.ts';
import { findForeignMeaning } from './warnings/operator-words.ts';

/** @limit Most headers in one header filter: a delivery keeps no more. */
const headerFilterKeysMax = 2 * keepHeadersMax;
/** @limit Most values for one header in a header filter: a longer list belongs in the automation itself. */
const headerFilterValuesMax = 100;

/** A header filter: each key names an event header, in any case. Values are strings, because headers are text. */
export interface HeaderFilter {
  readonly [name: string]: HeaderCondition;
}

type HeaderCondition = readonly string[] | Omit<Operators<string>, '$none'>;

const operators = 'in, not_in, exists, $like, $not_like or $compare';
const values = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: headerFilterValuesMax };
const patterns = { ...values, maxItems: globsMax };

/** Checks a header filter from YAML or from the applied state, and reports every mistake in it. */
export const headerFilterSchema: z.ZodType<HeaderFilter> = z
  .unknown()
  .meta({
    type: 'object',
    propertyNames: { pattern: headerNamePattern.source },
    maxProperties: headerFilterKeysMax,
    additionalProperties: {
      description: `A list of allowed values, or operators, which must all hold: ${operators}.`,
      anyOf: [
        values,
        makeOperatorsSchema({
          in: values,
          not_in: values,
          exists: { type: 'boolean' },
          $like: patterns,
          $not_like: patterns,
          $compare: boundsJsonSchema,
        }),
      ],
    },
    examples: [{ 'X-GitHub-Event': ['push'] }],
  })
  .transform((value, context): HeaderFilter => {
    for (const { code = 'filter/invalid', path, message, ...params } of findMistakes(value))
      context.issues.push({ code: 'custom', input: value, path, message, params: { code, ...params } });
    // Every mistake was reported, so without any, the value is a header filter.
    return value as HeaderFilter;
  });

interface FilterMistake {
  readonly code?: DiagnosticCode;
  readonly path: (string | number)[];
  readonly atKey?: boolean;
  readonly message: string;
  readonly hint: string;
  /** The keys that are no operators, for which there may be a better hint. */
  readonly header?: ForeignCondition;
}

function* findMistakes(filter: unknown): Generator<FilterMistake> {
  if (!isObject(filter)) {
    const hint = 'write names of headers, as in headers: { X-GitHub-Event: [push] }, or remove the key';
    yield { path: [], message: 'a header filter must be an object whose keys name headers', hint };
    return;
  }
  const names = Object.keys(filter);
  if (names.length === 0) {
    const hint = 'name a header, as in headers: { X-GitHub-Event: [push] }, or remove the key';
    yield { path: [], message: 'the header filter names no header', hint };
  }
  if (names.length > headerFilterKeysMax) {
    const message = `the header filter has ${names.length} headers, and at most ${headerFilterKeysMax} are allowed`;
    yield { code: 'filter/too-large', path: [], message, hint: 'filter on fewer headers' };
  }
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(name.toLowerCase());
    seen.set(name.toLowerCase(), name);
    if (other !== undefined) {
      const message = `${name} and ${other} are the same header, because case does not matter in names of headers`;
      yield { path: [name], message, hint: 'write one of them, with all its values in one list' };
    }
    const mistake = findHeaderNameMistake(name, 'X-GitHub-Event');
    if (mistake) yield { path: [name], ...mistake };
    yield* findConditionMistakes(name, filter[name]);
  }
}

function* findConditionMistakes(name: string, value: unknown): Generator<FilterMistake> {
  if (Array.isArray(value)) yield* findListMistakes(value, [name]);
  else if (!isObject(value)) {
    const hint =
      value === null ? `${name}: { exists: false }` : `${name}: [${JSON.stringify(String(value))}]`;
    yield { path: [name], message: `${name} must be a list of allowed values`, hint: `write ${hint}` };
  } else if (!hasOperator(value)) {
    const message = `${name} must be a list of allowed values, or operators: ${operators}`;
    const hint = `write ${name}: ${chooseCondition(Object.keys(value))}`;
    yield { path: [name], message, hint, header: { name, fields: value } };
  } else {
    for (const mistake of findOperatorMistakes(value)) yield below([name], mistake);
    for (const clause of toClauses(value) ?? []) yield* findOperandMistakes(clause, [name, clause.operator]);
  }
}

function* findOperandMistakes(clause: Clause, path: string[]): Generator<FilterMistake> {
  switch (clause.operator) {
    case '$none': {
      const message = '$none is for lists of objects, and a header is text';
      yield { path, message, hint: 'exclude values with not_in, or patterns with $not_like' };
      return;
    }
    case '$compare':
      for (const mistake of findBoundMistakes(clause.bounds)) yield below(path, mistake);
      return;
    case '$like':
    case '$not_like': {
      const mistakes = [...findPatternMistakes(clause.values)];
      yield* mistakes.map(mistake => below(path, mistake));
      if (mistakes.length === 0) yield* findListMistakes(clause.values, path);
      return;
    }
    case 'in':
    case 'not_in':
      yield* findListMistakes(clause.values, path);
  }
}

function below(path: readonly string[], mistake: OperandMistake): FilterMistake {
  return { ...mistake, path: [...path, ...mistake.path] };
}

/** Chooses the condition that was probably meant by keys that are no operators. */
function chooseCondition([key = '', ...others]: readonly string[]): string {
  switch (others.length === 0 ? findForeignMeaning(key) : undefined) {
    case 'not_in':
      return '{ not_in: [a, b] }';
    case 'exists':
      return '{ exists: true }';
    case 'missing':
      return '{ exists: false }';
    default:
      return '[a, b], or { $like: ["a*"] }';
  }
}

function* findListMistakes(list: readonly unknown[], path: string[]): Generator<FilterMistake> {
  if (list.length === 0) {
    yield { path, message: 'the list is empty', hint: 'list the values, or use { exists: true }' };
  }
  if (list.length > headerFilterValuesMax) {
    const message = `the list has ${list.length} values, and at most ${headerFilterValuesMax} are allowed`;
    const hint = 'split it over several triggers of the same webhook';
    yield { code: 'filter/too-large', path, message, hint };
    return;
  }
  for (const [index, value] of list.entries()) {
    const at = [...path, index];
    if (typeof value !== 'string') {
      const isScalar = !isObject(value) && !Array.isArray(value);
      const hint = isScalar ? 'put it in quotes' : 'write one flat list of strings';
      yield { path: at, message: 'the value of a header is always a string', hint };
    } else if (value.length > eventHeaderCharsMax) {
      const message = `at most ${eventHeaderCharsMax} characters of a header are kept, so this value never matches`;
      yield { path: at, message, hint: 'filter on another header, or let the run check it' };
    } else if (value !== value.trim()) {
      const message = 'a header has no white space around its value, so this value never matches';
      yield { path: at, message, hint: `write ${JSON.stringify(value.trim())}` };
    }
  }
}
