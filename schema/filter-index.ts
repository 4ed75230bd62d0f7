import { clauseOf, type Fields, type PayloadFilter } from './payload-filter.ts';
import { compilePayloadFilter, fieldOf, type PayloadPredicate } from './payload-filter-match.ts';

/** What starts a run when its filter matches; the same name may stand more than once. */
export interface NamedFilter {
  readonly name: string;
  readonly filter: PayloadFilter | undefined;
}

/**
 * Compiles many filters at once into a function that gives the names of those that match a payload, each name once.
 * A filter that lists allowed values of some field is looked up by the payload's value of that field and is not
 * looked at otherwise, so that a payload costs what its candidates cost, however many filters there are.
 */
export function compileFilterIndex(filters: readonly NamedFilter[]): (payload: unknown) => readonly string[] {
  if (filters.length === 0) return () => [];
  const groups = groupByFilter(filters);
  const lookups = groups.map(group => ({ group, clauses: lookupClauses(group.filter ?? {}, []) }));
  const popularity = countValues(lookups.flatMap(({ clauses }) => clauses));
  const always: Group[] = [];
  const byPath = new Map<string, PathIndex>();
  for (const { group, clauses } of lookups) {
    const clause = mostSelective(clauses, popularity);
    if (!clause) always.push(group);
    else addToIndex(byPath, clause, group);
  }
  const paths = [...byPath.values()];

  return payload => {
    const candidates = new Set(always);
    for (const { path, groupsByValue } of paths) {
      visit(payload, path, 0, value => {
        for (const group of groupsByValue.get(value) ?? []) candidates.add(group);
      });
    }
    const names = new Set<string>();
    for (const group of candidates) {
      if (group.matches(payload)) for (const name of group.names) names.add(name);
    }
    return [...names];
  };
}

/** Those whose filters are the same. */
interface Group {
  readonly filter: PayloadFilter | undefined;
  readonly matches: PayloadPredicate;
  readonly names: string[];
}

function groupByFilter(filters: readonly NamedFilter[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { name, filter } of filters) {
    const key = JSON.stringify(filter) ?? '';
    const group = groups.get(key);
    if (group) group.names.push(name);
    else groups.set(key, { filter, matches: compilePayloadFilter(filter), names: [name] });
  }
  return [...groups.values()];
}

/** A field that must have one of some values for the filter to match. */
interface LookupClause {
  readonly path: readonly string[];
  readonly values: readonly unknown[];
}

function lookupClauses(fields: Fields, above: readonly string[]): LookupClause[] {
  return Object.entries(fields).flatMap(([field, value]): LookupClause[] => {
    const clause = clauseOf(value);
    const path = [...above, field];
    if (clause?.operator === 'in') return [{ path, values: clause.values }];
    return clause?.operator === 'nested' ? lookupClauses(clause.fields, path) : [];
  });
}

type Popularity = ReadonlyMap<string, ReadonlyMap<unknown, number>>;

function countValues(clauses: readonly LookupClause[]): Popularity {
  const popularity = new Map<string, Map<unknown, number>>();
  for (const { path, values } of clauses) {
    const key = JSON.stringify(path);
    const counts = popularity.get(key) ?? new Map<unknown, number>();
    popularity.set(key, counts);
    for (const value of new Set(values)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return popularity;
}

/** The clause whose values the fewest other filters ask for. */
function mostSelective(clauses: readonly LookupClause[], popularity: Popularity): LookupClause | undefined {
  const cost = ({ path, values }: LookupClause) => {
    const counts = popularity.get(JSON.stringify(path));
    return values.reduce<number>((sum, value) => sum + (counts?.get(value) ?? 0), 0);
  };
  const costs = clauses.map(clause => ({ clause, cost: cost(clause) }));
  return costs.sort((a, b) => a.cost - b.cost)[0]?.clause;
}

interface PathIndex {
  readonly path: readonly string[];
  readonly groupsByValue: Map<unknown, Group[]>;
}

function addToIndex(byPath: Map<string, PathIndex>, { path, values }: LookupClause, group: Group): void {
  const key = JSON.stringify(path);
  const index = byPath.get(key) ?? { path, groupsByValue: new Map<unknown, Group[]>() };
  byPath.set(key, index);
  for (const value of new Set(values)) {
    const groups = index.groupsByValue.get(value);
    if (groups) groups.push(group);
    else index.groupsByValue.set(value, [group]);
  }
}

/** The values that a filter would compare at a path: arrays on the way and at its end are looked into once each. */
function visit(
  value: unknown,
  path: readonly string[],
  depth: number,
  found: (value: unknown) => void,
): void {
  if (Array.isArray(value)) for (const element of value) visitOne(element, path, depth, found);
  else visitOne(value, path, depth, found);
}

function visitOne(
  value: unknown,
  path: readonly string[],
  depth: number,
  found: (value: unknown) => void,
): void {
  const field = path[depth];
  if (field === undefined) found(value);
  else visit(fieldOf(value, field), path, depth + 1, found);
}
