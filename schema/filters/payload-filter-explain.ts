import type { EventHeaders } from '../event-headers.ts';
import { renderPathSegment } from '../field-path.ts';
import type { Clause, Fields, PayloadFilter } from './clause.ts';
import { excerpt } from './excerpt.ts';
import type { HeaderFilter } from './header-filter.ts';
import { describeNearMiss } from './near-miss.ts';
import { describeBounds } from './operand-mistakes.ts';
import {
  type CompiledClause,
  compileAll,
  compileClauses,
  getField,
  readHeaderNumber,
  readPayloadNumber,
} from './payload-filter-match.ts';

/** @limit Most elements of an array that an explanation searches for the nearest miss: an array may have 130,000. */
const explainedElementsMax = 1_000;

/** A clause of a filter, and what it found in a payload. */
export interface ClauseOutcome {
  /** A JSONPath (RFC 9535) such as `$.issue.level`, `$.items[2].sku` or `$["odd name"]`; of a header, its name. */
  readonly path: string;
  /** `any_element`: the value is an array, and the clauses that follow are about one of its elements. */
  readonly operator: Exclude<Clause['operator'], 'nested'> | 'any_element';
  /** The operand of the clause as JSON, cut if it is long; of `compare` in words, as `at least 5 and below 10`. */
  readonly allowed: string;
  /** The value in the payload as JSON, cut if it is long; `missing` if there is none. */
  readonly found: string;
  readonly holds: boolean;
  /** How near the value came to a pattern or range that it fails, if that says more than both. */
  readonly note?: string;
}

/** The note of an outcome in parentheses, to be added to what was found; empty without a note. */
export function renderNote({ note }: Pick<ClauseOutcome, 'note'>): string {
  return note === undefined ? '' : ` (${note})`;
}

/**
 * Explains clause by clause why a payload does or does not match a filter. It matches if and only if all outcomes hold.
 * For an array, shows only the element that satisfies the most clauses, so the list stays as short as the filter.
 */
export function explainPayloadFilter(
  filter: PayloadFilter | undefined,
  payload: unknown,
): readonly ClauseOutcome[] {
  return filter === undefined ? [] : explainNested(filter, payload, '$');
}

/** Explains header by header why a delivery does or does not match. The paths are names of headers, as written. */
export function explainHeaderFilter(filter: HeaderFilter, headers: EventHeaders): readonly ClauseOutcome[] {
  return compileClauses(filter, readHeaderNumber).map(clause =>
    explainClause(clause.field, clause, getField(headers, clause.field.toLowerCase()), readHeaderNumber),
  );
}

function explainNested(fields: Fields, value: unknown, path: string): readonly ClauseOutcome[] {
  const clauses = compileClauses(fields);
  const nearest = Array.isArray(value) ? findNearestElement(clauses, value) : undefined;
  if (!Array.isArray(value) || nearest === undefined) return explainFields(clauses, value, path);
  const { index, held } = nearest;
  const anyElement: ClauseOutcome = {
    path,
    operator: 'any_element',
    allowed: 'one element that satisfies every clause',
    found: `[${index}] of ${value.length}`,
    holds: held === clauses.length,
  };
  return [anyElement, ...explainFields(clauses, value[index], `${path}[${index}]`)];
}

/** The first element that satisfies every clause, or the best of the first `explainedElementsMax`; undefined if empty. */
function findNearestElement(clauses: readonly CompiledClause[], elements: readonly unknown[]) {
  const satisfying = elements.findIndex(compileAll(clauses));
  if (satisfying >= 0) return { index: satisfying, held: clauses.length };
  let nearest: { index: number; held: number } | undefined;
  for (const [index, element] of elements.slice(0, explainedElementsMax).entries()) {
    const held = clauses.filter(({ field, holds }) => holds(getField(element, field))).length;
    if (nearest === undefined || held > nearest.held) nearest = { index, held };
  }
  return nearest;
}

function explainFields(
  clauses: readonly CompiledClause[],
  value: unknown,
  path: string,
): readonly ClauseOutcome[] {
  return clauses.flatMap((compiled): readonly ClauseOutcome[] => {
    const { field, clause } = compiled;
    const at = `${path}${renderPathSegment(field)}`;
    const found = getField(value, field);
    return clause.operator === 'nested'
      ? explainNested(clause.fields, found, at)
      : [explainClause(at, compiled, found)];
  });
}

/** Explains a clause that is not nested. */
function explainClause(
  path: string,
  { clause, holds }: CompiledClause,
  found: unknown,
  readNumber = readPayloadNumber,
): ClauseOutcome {
  if (clause.operator === 'nested') throw new TypeError(`the clause for ${path} is nested`);
  const outcome = {
    path,
    operator: clause.operator,
    allowed: describeOperand(clause),
    found: excerpt(found),
  };
  if (holds(found)) return { ...outcome, holds: true };
  const note = describeNearMiss(clause, found, readNumber);
  return { ...outcome, holds: false, ...(note !== undefined && { note }) };
}

function describeOperand(clause: Exclude<Clause, { operator: 'nested' }>): string {
  if (clause.operator === 'compare') return describeBounds(clause.bounds);
  return excerpt(clause.operator === 'exists' ? clause.expected : clause.values);
}
