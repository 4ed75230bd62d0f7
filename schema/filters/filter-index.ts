import { type EventHeaders, withLowerNames } from '../headers.ts';
import { type Clause, type Fields, type PayloadFilter, toClauses } from './clause.ts';
import {
  addPost,
  anyValue,
  createFieldTree,
  type Post,
  type Posting,
  walkFields,
} from './filter-field-tree.ts';
import type { HeaderFilter } from './header-filter.ts';
import { compileHeaderFilter, compilePayloadFilter } from './payload-filter-match.ts';

/** A run of `name` starts if both filters match. Several entries may have the same name. */
export interface NamedFilter {
  readonly name: string;
  readonly filter: PayloadFilter | undefined;
  readonly headers?: HeaderFilter | undefined;
}

/**
 * Compiles many filters into a function that returns the names of those that match a payload, each name once. One walk
 * over the payload finds the candidates, however many filters there are. A filter that needs a field is a candidate
 * only if that field has an allowed value. It is never a candidate if the payload has a value that it rules out.
 */
export function compileFilterIndex(filters: readonly NamedFilter[]): FilterMatcher {
  const steps = compileFilterSteps(filters);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export type FilterMatcher = (payload: unknown, headers?: EventHeaders) => readonly string[];

/** An event that filters judge. One tree has the fields of both parts, below their two names. */
interface JudgedEvent {
  readonly payload: unknown;
  readonly headers: EventHeaders;
}

/** Does the same in short steps, so that other work can be done between them. */
export function* compileFilterSteps(filters: readonly NamedFilter[]): Generator<undefined, FilterMatcher> {
  const compiled = new Map<string, { readonly group: Group; readonly posts: readonly Post[] }>();
  for (const { name, filter, headers: written } of filters) {
    const headers = written && withLowerNames(written);
    const key = JSON.stringify([filter, headers]);
    const known = compiled.get(key);
    if (known) known.group.names.push(name);
    else {
      const group = { matches: compileBoth(filter, headers), names: [name], ruledOutIn: 0 };
      compiled.set(key, { group, posts: toEventPosts(filter, headers) });
    }
    yield;
  }
  const popularity: Popularity = new Map();
  for (const { posts } of compiled.values()) {
    countValues(posts, popularity);
    yield;
  }
  const tree = createFieldTree<Group>();
  const always: Group[] = [];
  for (const { group, posts } of compiled.values()) {
    const needed = findMostSelective(
      posts.filter(({ kind }) => kind === 'needed'),
      popularity,
    );
    if (needed) addPost(tree, needed, group);
    else always.push(group);
    for (const post of posts) if (post.kind === 'ruledOut') addPost(tree, post, group);
    yield;
  }
  return filters.length === 0 ? () => [] : createMatcher(tree, always);
}

function createMatcher(
  tree: ReturnType<typeof createFieldTree<Group>>,
  always: readonly Group[],
): FilterMatcher {
  let round = 0;
  return (payload, headers = noHeaders) => {
    round++;
    const event: JudgedEvent = { payload, headers };
    const candidates = [always];
    walkFields(event, tree, {
      needed: posting => {
        candidates.push(collectOnce(posting, round));
      },
      ruledOut: posting => {
        for (const group of collectOnce(posting, round)) group.ruledOutIn = round;
      },
    });
    const names = new Set<string>();
    for (const groups of candidates) {
      for (const group of groups) {
        if (group.ruledOutIn === round || !group.matches(event)) continue;
        for (const name of group.names) names.add(name);
      }
    }
    return [...names];
  };
}

const noHeaders: EventHeaders = {};

function compileBoth(filter: NamedFilter['filter'], headers: NamedFilter['headers']): Group['matches'] {
  const matchesPayload = compilePayloadFilter(filter);
  if (headers === undefined) return event => matchesPayload(event.payload);
  // A header that was not sent is a missing field.
  const matchesHeaders = compileHeaderFilter({ ...headers });
  return event => matchesHeaders(event.headers) && matchesPayload(event.payload);
}

/** Collects a posting only once for each payload: an array may contain the same value 80,000 times. */
function collectOnce(posting: Posting<Group>, round: number): readonly Group[] {
  if (posting.collectedIn === round) return [];
  posting.collectedIn = round;
  return posting.entries;
}

/** The entries that have the same filters. */
interface Group {
  readonly matches: (event: JudgedEvent) => boolean;
  readonly names: string[];
  /** The last round whose payload ruled it out. */
  ruledOutIn: number;
}

function toEventPosts(
  filter: NamedFilter['filter'] = {},
  headers: NamedFilter['headers'] = {},
): readonly Post[] {
  return [
    ...toPosts(filter, ['payload' satisfies keyof JudgedEvent]),
    ...toPosts(headers, ['headers' satisfies keyof JudgedEvent]),
  ];
}

/** Lists, field by field, the values that a filter needs and the values that rule it out. `$not_like` and `$none` tell neither. */
function toPosts(fields: Fields, above: readonly string[]): readonly Post[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const path = [...above, field];
    return (toClauses(value) ?? []).flatMap(clause => toClausePosts(clause, path));
  });
}

function toClausePosts(clause: Clause, path: readonly string[]): readonly Post[] {
  const exists: Post = { kind: 'needed', path, values: [anyValue] };
  switch (clause.operator) {
    case 'in':
      return [{ kind: 'needed', path, values: clause.values }];
    case 'not_in':
      return [{ kind: 'ruledOut', path, values: clause.values }];
    case '$like':
    case '$compare':
      return [exists];
    case 'exists':
      return [clause.expected ? exists : { ...exists, kind: 'ruledOut' }];
    case 'object': {
      const posts = toPosts(clause.fields, path);
      // A field that the object needs says more than the object itself.
      return posts.some(({ kind }) => kind === 'needed') ? posts : [...posts, exists];
    }
    default:
      return [];
  }
}

type Popularity = Map<string, Map<unknown, number>>;

function countValues(posts: readonly Post[], popularity: Popularity): void {
  for (const { kind, path, values } of posts) {
    if (kind !== 'needed') continue;
    const key = JSON.stringify(path);
    const counts = popularity.get(key) ?? new Map<unknown, number>();
    popularity.set(key, counts);
    for (const value of new Set(values)) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
}

/** Finds the post whose values the fewest filters need. */
function findMostSelective(needed: readonly Post[], popularity: Popularity): Post | undefined {
  const cost = ({ path, values }: Post) => {
    const counts = popularity.get(JSON.stringify(path));
    return values.reduce<number>((sum, value) => sum + (counts?.get(value) ?? 0), 0);
  };
  const costs = needed.map(post => ({ post, cost: cost(post) }));
  return costs.sort((a, b) => a.cost - b.cost)[0]?.post;
}
