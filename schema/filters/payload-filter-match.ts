import { type Clause, type Fields, isObject, type PayloadFilter, toClause } from './clause.ts';

/**
 * Compiles a payload filter that has passed `payloadFilterSchema`; without a filter, every payload matches. The
 * predicate takes any value from `JSON.parse` and never throws. It recurses as deep as the filter, not the payload.
 */
export function compilePayloadFilter(filter: PayloadFilter | undefined): ValueTest {
  return filter === undefined ? () => true : compileNested(filter);
}

// An array satisfies a nested object if one of its elements satisfies all of it. Only one level of array is entered:
// an array inside an array is an element without fields, and an empty array is itself a value without fields.
function compileNested(fields: Fields): ValueTest {
  const clauses = compileClauses(fields);
  const satisfies = compileAll(clauses);
  return value => (Array.isArray(value) && value.length > 0 ? value.some(satisfies) : satisfies(value));
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
  const byField = new Map(clauses.map(clause => [clause.field, clause]));
  const needed = new Set(clauses.filter(({ holds }) => !holds(undefined)));
  return value => {
    if (!isObject(value)) return needed.size === 0;
    let found = 0;
    for (const field of Object.keys(value)) {
      const clause = byField.get(field);
      if (!clause) continue;
      if (!clause.holds(value[field])) return false;
      if (needed.has(clause)) found++;
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

/** Compiles the clauses of an object in a filter. */
export function compileClauses(fields: Fields): readonly CompiledClause[] {
  return Object.entries(fields).map(([field, value]) => {
    const clause = toClause(value);
    if (clause === undefined) throw new TypeError('the payload filter has not passed payloadFilterSchema');
    return { field, clause, holds: compileClause(clause) };
  });
}

/** An own field of an object; undefined if it is missing or the value is not an object. */
export function getField(value: unknown, field: string): unknown {
  return isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
}

function compileClause(clause: Clause): ValueTest {
  switch (clause.operator) {
    case 'in':
      return compileIn(clause.values);
    case 'not_in': {
      const isIn = compileIn(clause.values);
      return value => !isIn(value);
    }
    case 'exists':
      return value => (value !== undefined) === clause.expected;
    case 'nested':
      return compileNested(clause.fields);
  }
}

// A Set compares like JSON: without coercion, and -0 equals 0.
function compileIn(values: readonly unknown[]): ValueTest {
  const allowed = new Set(values);
  const isAllowed: ValueTest = value => allowed.has(value);
  return value => (Array.isArray(value) ? value.some(isAllowed) : isAllowed(value));
}
