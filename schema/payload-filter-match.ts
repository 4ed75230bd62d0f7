import { type Clause, clauseOf, type Fields, isObject, type PayloadFilter } from './payload-filter.ts';

export type PayloadPredicate = (payload: unknown) => boolean;

/**
 * Compiles a payload filter that has passed `payloadFilterSchema`. The predicate takes what `JSON.parse` returned,
 * never throws and allocates nothing; no filter matches every payload. It recurses as deep as the filter nests,
 * however deep the payload does.
 */
export function compilePayloadFilter(filter: PayloadFilter | undefined): PayloadPredicate {
  return filter === undefined ? () => true : compileNested(filter);
}

/** A value of a payload, `undefined` where the field is missing: JSON has no such value. */
export type ValueTest = (value: unknown) => boolean;

/** Whether a value has all that the fields ask; an array has it if any one element does. */
export function compileNested(fields: Fields): ValueTest {
  const satisfies = compileFields(fields);
  return value => (Array.isArray(value) ? value.some(satisfies) : satisfies(value));
}

/** Whether one value, itself no longer looked into as an array, has all that the fields ask. */
function compileFields(fields: Fields): ValueTest {
  const tests = Object.entries(fields).map(([field, value]) => ({
    field,
    holds: compileClause(clauseOf(value)),
  }));
  return value => {
    for (const { field, holds } of tests) if (!holds(fieldOf(value, field))) return false;
    return true;
  };
}

/** An own field of an object. Whatever is no object has no fields: they are missing. */
export function fieldOf(value: unknown, field: string): unknown {
  return isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
}

export function compileClause(clause: Clause): ValueTest {
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
    case 'bare':
      throw new TypeError('a payload filter must pass payloadFilterSchema before it is compiled');
  }
}

// A Set compares as JSON does: no coercion, and -0 is 0.
function compileIn(values: readonly unknown[]): ValueTest {
  const allowed = new Set(values);
  const isAllowed: ValueTest = value => allowed.has(value);
  return value => (Array.isArray(value) ? value.some(isAllowed) : isAllowed(value));
}
