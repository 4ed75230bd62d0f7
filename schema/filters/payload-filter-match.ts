import { type Bounds, type Clause, type Fields, isObject, type PayloadFilter, toClauses } from './clause.ts';
import { compileGlob } from './glob.ts';

/**
 * Compiles a payload filter that has passed `payloadFilterSchema`; without a filter, every payload matches. The
 * predicate takes any value from `JSON.parse` and never throws. It recurses as deep as the filter, not the payload.
 */
export function compilePayloadFilter(filter: PayloadFilter | undefined): ValueTest {
  if (filter === undefined) return () => true;
  const satisfies = compileAll(compileClauses(filter));
  // The fields of a body that is no object, or an empty list, are missing.
  return value => (Array.isArray(value) && value.length > 0 ? value.some(satisfies) : satisfies(value));
}

/** Compiles a header filter whose names are in lower case, as the names of event headers are. */
export function compileHeaderFilter(filter: Fields): ValueTest {
  return compileAll(compileClauses(filter, readHeaderNumber));
}

// Only one level of array is entered: an array inside an array is no object.
function compileObject(fields: Fields): ValueTest {
  const satisfies = compileAll(compileClauses(fields));
  return anyElement(value => isObject(value) && satisfies(value));
}

// Up to this many clauses are looked up one by one.
const clausesFew = 8;

/** Compiles a test that a value satisfies every clause. A value that is not an object has no fields. */
export function compileAll(clauses: readonly CompiledClause[]): ValueTest {
  return clauses.length > clausesFew ? satisfiesMany(clauses) : satisfiesFew(clauses);
}

function satisfiesFew(clauses: readonly CompiledClause[]): ValueTest {
  return value => {
    for (const { field, holds } of clauses) if (!holds(getField(value, field))) return false;
    return true;
  };
}

// Goes through the value's own fields, so that testing 200 clauses on 80,000 small array elements is fast.
function satisfiesMany(clauses: readonly CompiledClause[]): ValueTest {
  const byField = Map.groupBy(clauses, ({ field }) => field);
  const needed = new Set(clauses.filter(({ holds }) => !holds(undefined)));
  return value => {
    if (!isObject(value)) return needed.size === 0;
    let found = 0;
    for (const field of Object.keys(value)) {
      const asked = byField.get(field);
      if (!asked) continue;
      for (const clause of asked) {
        if (!clause.holds(value[field])) return false;
        if (needed.has(clause)) found++;
      }
    }
    return found === needed.size;
  };
}

/** Tests the value of a field. `undefined` means that the field is missing: no JSON value is undefined. */
export type ValueTest = (value: unknown) => boolean;

export interface CompiledClause {
  readonly field: string;
  readonly clause: Clause;
  readonly holds: ValueTest;
}

/** Reads the number that `$compare` tests; undefined for a value that is none. */
export type NumberReader = (value: unknown) => number | undefined;

/** Reads a number of a payload, where a string of digits is a string. */
export const readPayloadNumber: NumberReader = value => (typeof value === 'number' ? value : undefined);

// RFC 8259, section 6. A header has no types, so its text is a number if it is one in JSON.
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads a header whose whole text is a number as JSON writes it: `12` and `-1.5e3`, not `012`, `+1`, `0x1` or `1,2`. */
export const readHeaderNumber: NumberReader = value =>
  typeof value === 'string' && jsonNumber.test(value) ? Number(value) : undefined;

/** Compiles the clauses of an object in a filter: one for each field, or for each of its operators. */
export function compileClauses(
  fields: Fields,
  readNumber: NumberReader = readPayloadNumber,
): readonly CompiledClause[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const clauses = toClauses(value);
    if (!clauses) throw new TypeError('the payload filter has not passed payloadFilterSchema');
    return clauses.map(clause => ({ field, clause, holds: compileClause(clause, readNumber) }));
  });
}

/** An own field of an object; undefined if it is missing or the value is not an object. */
export function getField(value: unknown, field: string): unknown {
  return isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
}

/** Compiles one clause of a filter that has passed its schema. */
export function compileClause(clause: Clause, readNumber = readPayloadNumber): ValueTest {
  switch (clause.operator) {
    case 'in':
      return compileIn(clause.values);
    case 'not_in':
      return negate(compileIn(clause.values));
    case '$like':
      return compileLike(clause.values);
    case '$not_like':
      return negate(compileLike(clause.values));
    case '$compare': {
      // They have passed payloadFilterSchema.
      const bounds = clause.bounds as Bounds;
      return anyElement(value => isWithin(readNumber(value), bounds));
    }
    case 'exists':
      return value => (value !== undefined) === clause.expected;
    case '$none':
      return negate(compileObject(clause.fields));
    case 'object':
      return compileObject(clause.fields);
  }
}

function negate(test: ValueTest): ValueTest {
  return value => !test(value);
}

/** An array passes if one of its elements does. */
function anyElement(test: ValueTest): ValueTest {
  return value => (Array.isArray(value) ? value.some(test) : test(value));
}

// A Set compares like JSON: without coercion, and -0 equals 0.
function compileIn(values: readonly unknown[]): ValueTest {
  const allowed = new Set(values);
  return anyElement(value => allowed.has(value));
}

function compileLike(patterns: readonly unknown[]): ValueTest {
  const globs = patterns.map(pattern => compileGlob(String(pattern)));
  return anyElement(value => typeof value === 'string' && globs.some(matches => matches(value)));
}

function isWithin(value: number | undefined, { at_least, above, at_most, below }: Bounds): boolean {
  if (value === undefined) return false;
  if ((at_least !== undefined && value < at_least) || (above !== undefined && value <= above)) return false;
  return !((at_most !== undefined && value > at_most) || (below !== undefined && value >= below));
}
