import { renderPathSegment } from '../field-path.ts';
import type { EventHeaders } from '../headers.ts';
import { isShowableName } from '../text/credentials.ts';
import { type Clause, isObject, type PayloadFilter } from './clause.ts';
import { excerpt } from './excerpt.ts';
import type { HeaderFilter } from './header-filter.ts';
import { describeNearMiss } from './near-miss.ts';
import { describeBounds } from './operand-mistakes.ts';
import {
  type CompiledClause,
  compileAll,
  compileClause,
  compileClauses,
  getField,
  type NumberReader,
  readHeaderNumber,
  readPayloadNumber,
  type ValueTest,
} from './payload-filter-match.ts';

/** @limit Most elements of an array that an explanation searches for the nearest miss: an array may have 130,000. */
const explainedElementsMax = 1_000;

/** A clause of a filter, and what it found in a payload. */
export interface ClauseOutcome {
  /** A JSONPath (RFC 9535) such as `$.issue.level`, `$.items[2].sku` or `$["odd name"]`; of a header, its name. */
  readonly path: string;
  /**
   * `object`: nested fields need an object, and there is none, or they are none themselves. `any_element`: the value is an
   * array, and the clauses that follow are about one of its elements.
   */
  readonly operator: Clause['operator'] | 'any_element';
  /** The operand of the clause as JSON, cut if it is long; of `$compare` in words, as `at least 5 and below 10`. */
  readonly allowed: string;
  /** The value in the payload as JSON, cut if it is long; `missing` if there is none. */
  readonly found: string;
  readonly holds: boolean;
  /** How near the value came to a pattern or range that it fails, if that says more than both. */
  readonly note?: string;
}

/** A clause with the value that decides whether it holds. One of nested fields only needs an object, or a list with one. */
export interface ExaminedClause {
  readonly path: string;
  /** The keys that lead to the clause in its filter: without the indexes of elements. */
  readonly keys: readonly string[];
  readonly clause: Clause;
  readonly found: unknown;
  readonly holds: boolean;
  /** Reads the numbers that `$compare` compares there. */
  readonly readNumber: NumberReader;
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
  return examinePayload(filter, payload, true).map(part => ('clause' in part ? explainClause(part) : part));
}

/** Explains header by header why a delivery does or does not match. The paths are names of headers, as written. */
export function explainHeaderFilter(filter: HeaderFilter, headers: EventHeaders): readonly ClauseOutcome[] {
  return examineHeaders(filter, headers).map(explainClause);
}

/**
 * Examines the clauses of a filter, in its order and always all of them. A payload matches if and only if all hold. Of an
 * array, examines the element that satisfies the most clauses.
 */
export function examineClauses(
  filter: PayloadFilter | undefined,
  payload: unknown,
): readonly ExaminedClause[] {
  return examinePayload(filter, payload, false).filter(part => 'clause' in part);
}

/** Examines the clauses of a header filter. */
export function examineHeaders(filter: HeaderFilter, headers: EventHeaders): readonly ExaminedClause[] {
  return compileClauses(filter, readHeaderNumber).map(compiled => {
    const { field } = compiled;
    const place = { path: field, keys: [field], readNumber: readHeaderNumber, isBrief: true };
    return examineClause(place, compiled, getField(headers, field.toLowerCase()));
  });
}

/** A clause, or the outcome that an array has beside those of an element. */
type Examined = ExaminedClause | ClauseOutcome;

/** `isBrief` leaves out the clauses of objects that exist, and the fields of objects that are missing. */
type Place = Pick<ExaminedClause, 'path' | 'keys' | 'readNumber'> & { readonly isBrief: boolean };

function examinePayload(
  filter: PayloadFilter | undefined,
  payload: unknown,
  isBrief: boolean,
): readonly Examined[] {
  if (filter === undefined) return [];
  const place = { path: '$', keys: [], readNumber: readPayloadNumber, isBrief };
  return examineElement(compileClauses(filter), payload, place, () => true);
}

function examineObject(clause: ObjectClause, value: unknown, place: Place): readonly Examined[] {
  const holds = Array.isArray(value) ? value.some(isObject) : isObject(value);
  const clauses = compileClauses(clause.fields);
  const object = { ...place, clause, found: value, holds };
  if (place.isBrief && (!holds || clauses.length === 0)) return [object];
  const fields = examineElement(clauses, value, place, isObject);
  return place.isBrief ? fields : [object, ...fields];
}

type ObjectClause = Extract<Clause, { operator: 'object' }>;

/** Examines the fields of a value or, of an array, those of the nearest element that is eligible. */
function examineElement(
  clauses: readonly CompiledClause[],
  value: unknown,
  place: Place,
  isEligible: ValueTest,
): readonly Examined[] {
  const nearest = Array.isArray(value) ? findNearestElement(clauses, value, isEligible) : undefined;
  if (!Array.isArray(value) || nearest === undefined) return examineFields(clauses, value, place);
  const { index, held } = nearest;
  const anyElement: ClauseOutcome = {
    path: place.path,
    operator: 'any_element',
    allowed: 'one element that satisfies every clause',
    found: `[${index}] of ${value.length}`,
    holds: held === clauses.length,
  };
  const element = { ...place, path: `${place.path}[${index}]` };
  return [anyElement, ...examineFields(clauses, value[index], element)];
}

/** The first element that satisfies every clause, or the best of the first `explainedElementsMax`; undefined if none is eligible. */
function findNearestElement(
  clauses: readonly CompiledClause[],
  elements: readonly unknown[],
  isEligible: ValueTest,
) {
  const satisfies = compileAll(clauses);
  const satisfying = elements.findIndex(element => isEligible(element) && satisfies(element));
  if (satisfying >= 0) return { index: satisfying, held: clauses.length };
  let nearest: { index: number; held: number } | undefined;
  for (const [index, element] of elements.slice(0, explainedElementsMax).entries()) {
    if (!isEligible(element)) continue;
    const held = clauses.filter(({ field, holds }) => holds(getField(element, field))).length;
    if (nearest === undefined || held > nearest.held) nearest = { index, held };
  }
  return nearest;
}

function examineFields(
  clauses: readonly CompiledClause[],
  value: unknown,
  { path, keys, ...place }: Place,
): readonly Examined[] {
  return clauses.flatMap((compiled): readonly Examined[] => {
    const { field, clause } = compiled;
    const at = { ...place, path: `${path}${renderPathSegment(field)}`, keys: [...keys, field] };
    const found = getField(value, field);
    return clause.operator === 'object'
      ? examineObject(clause, found, at)
      : [examineClause(at, compiled, found)];
  });
}

function examineClause(place: Place, { clause, holds }: CompiledClause, found: unknown): ExaminedClause {
  return { ...place, clause, found, holds: holds(found) };
}

const hidden = '(hidden: its name says that it may be a secret)';

/** Explains a clause, and how near the value came. */
function explainClause({ path, clause, found, holds, readNumber }: ExaminedClause): ClauseOutcome {
  const { operator } = clause;
  const outcome = {
    path,
    operator,
    allowed: describeOperand(clause),
    found: describeFound(clause, found),
    holds,
  };
  // The name says that its value may be a secret.
  if (found !== undefined && !path.split(/[^\w-]+/).every(isShowableName))
    return { ...outcome, found: hidden };
  const note = holds ? undefined : describeNearMiss(clause, found, readNumber);
  return { ...outcome, ...(note !== undefined && { note }) };
}

/** A value as JSON, cut if it is long; of `$none`, only which element of a list matches. */
function describeFound(clause: Clause, found: unknown): string {
  if (clause.operator !== '$none' || !Array.isArray(found)) return excerpt(found);
  const index = found.findIndex(compileClause({ ...clause, operator: 'object' }));
  return index < 0 ? `none of ${found.length}` : `[${index}] of ${found.length}`;
}

/** The operand of a clause as JSON, cut if it is long; of `$compare` in words. */
export function describeOperand(clause: Clause): string {
  switch (clause.operator) {
    case '$compare':
      return describeBounds(clause.bounds);
    case 'exists':
      return String(clause.expected);
    case 'object':
      return 'needed';
    case '$none':
      return excerpt(clause.fields);
    default:
      return excerpt(clause.values);
  }
}

/** A clause in words: its path, its operator as it is written, and its operand. */
export function renderCondition(clause: Pick<ClauseOutcome, 'path' | 'operator' | 'allowed'>): string {
  return `${clause.path} ${clause.operator.replace('any_', 'any ')} ${clause.allowed}`;
}
