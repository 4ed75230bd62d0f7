import { type Clause, clauseOf, type Fields, isObject, type PayloadFilter } from './payload-filter.ts';

export type PayloadPredicate = (payload: unknown) => boolean;

/**
 * Compiles a payload filter that has passed `payloadFilterSchema`. The predicate takes what `JSON.parse` returned,
 * never throws; no filter matches every payload. It recurses as deep as the filter nests,
 * however deep the payload does.
 */
export function compilePayloadFilter(filter: PayloadFilter | undefined): PayloadPredicate {
  return filter === undefined ? () => true : compileNested(filter);
}

// An array satisfies a nested object if any one element satisfies all of it. This looks into an array once: an
// array within it is an element without fields.
function compileNested(fields: Fields): ValueTest {
  const clauses = compileClauses(fields);
  const satisfies = compileAll(clauses);
  return value => (Array.isArray(value) ? value.some(satisfies) : satisfies(value));
}

const clausesFew = 8;

/** Tests whether a value, taken for an object whatever it is, satisfies every clause. */
export function compileAll(clauses: readonly CompiledClause[]): ValueTest {
  return clauses.length > clausesFew ? satisfiesMany(clauses) : satisfiesFew(clauses);
}

function satisfiesFew(clauses: readonly CompiledClause[]): ValueTest {
  return value => {
    for (const { field, holds } of clauses) if (!holds(fieldOf(value, field))) return false;
    return true;
  };
}

// An array of 80,000 small elements meets 200 clauses in a moment, because only fields that are there are looked at.
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

/** Tests a field's value, which is `undefined` where the field is missing: no JSON value is. */
export type ValueTest = (value: unknown) => boolean;

export interface CompiledClause {
  readonly field: string;
  readonly clause: Clause;
  readonly holds: ValueTest;
}

/** What an object of a filter asks, field by field. */
export function compileClauses(fields: Fields): readonly CompiledClause[] {
  return Object.entries(fields).map(([field, value]) => {
    const clause = clauseOf(value);
    if (clause === undefined) throw new TypeError('the payload filter has not passed payloadFilterSchema');
    return { field, clause, holds: compileClause(clause) };
  });
}

/** An own field of an object. Whatever is no object has no fields: they are missing. */
export function fieldOf(value: unknown, field: string): unknown {
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

// A Set compares as JSON does: without coercion, and with -0 equal to 0.
function compileIn(values: readonly unknown[]): ValueTest {
  const allowed = new Set(values);
  const isAllowed: ValueTest = value => allowed.has(value);
  return value => (Array.isArray(value) ? value.some(isAllowed) : isAllowed(value));
}
