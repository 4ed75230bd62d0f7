import { distance } from 'fastest-levenshtein';

/**
 * The meaning of a word that other tools have as an operator. `missing` is the opposite of `exists`. `$like`, `regex`,
 * `contains`, `starts` and `ends` test a text, and so do the opposites of some. `between` and the names of bounds compare
 * numbers. `other` does what no operator of ours does. `not`, `or`, `and` and `element` combine other conditions.
 */
export type ForeignMeaning =
  | 'in'
  | 'not_in'
  | 'exists'
  | 'missing'
  | '$like'
  | '$not_like'
  | 'regex'
  | 'not_regex'
  | 'contains'
  | 'not_contains'
  | 'starts'
  | 'ends'
  | 'at_least'
  | 'above'
  | 'at_most'
  | 'below'
  | 'between'
  | 'other'
  | 'not'
  | 'or'
  | 'and'
  | 'element';

// The operators of MongoDB, JSON Schema, JSONPath, EventBridge, GitHub Actions, Hasura, Elasticsearch, SQL and JavaScript,
// in lowercase without separators. Those with $ are operators only with it, because they are usual names of fields.
const words: Readonly<Record<ForeignMeaning, string>> = {
  in: 'in eq equal equals equalto isequal isin oneof anyof enum const = == === $is $any $values',
  not_in:
    'notin nin ne neq noteq notequal notequals notequalto isnot isnotin noneof notoneof anythingbut != !== <> !in $not_eq',
  exists: 'exists exist isset ispresent present defined isdefined notnull isnotnull',
  missing: 'missing absent notexists notexist doesnotexist ismissing isnull undefined isundefined !exists',
  $like: 'like glob wildcard fnmatch',
  $not_like: 'notlike notglob',
  regex: 'regex regexp match matches matchregex matchesregex pattern =~ ~',
  not_regex: 'notmatch notmatches notregex !~',
  contains: 'contains contain containing includes',
  not_contains: 'notcontains ncontains doesnotcontain',
  starts: 'startswith startwith beginswith hasprefix prefix',
  ends: 'endswith endwith hassuffix suffix',
  at_least: 'atleast gte ge greaterthanorequal greaterthanorequals greaterthanorequalto minimum >= $min',
  above: 'above gt greaterthan exclusiveminimum >',
  at_most: 'atmost lte le lessthanorequal lessthanorequals lessthanorequalto maximum <= $max',
  below: 'below lt lessthan exclusivemaximum <',
  between: 'between $range',
  other:
    'icontains istartswith iendswith iregex ilike equalsignorecase ieq cidr numeric $text $type $mod $size $before $after',
  not: 'not nor',
  or: 'or',
  and: 'and allof $all',
  element: 'elemmatch anyelement $some $every',
};

const meanings = new Map(
  Object.entries(words).flatMap(([meaning, list]) =>
    list.split(' ').map(word => [word, meaning as ForeignMeaning] as const),
  ),
);

// Long enough that no usual name of a field differs from them by one letter.
const recognizedMisspelt: ReadonlyMap<string, ForeignMeaning> = new Map([
  ['exists', 'exists'],
  ['not_in', 'not_in'],
  ['not_like', '$not_like'],
  ['contains', 'contains'],
  ['startswith', 'starts'],
  ['endswith', 'ends'],
] as const);

/** Finds what a key would mean as an operator, of another tool or misspelt; undefined for other keys. */
export function findForeignMeaning(key: string): ForeignMeaning | undefined {
  const written = key.trim().toLowerCase();
  const word = written.replaceAll(/[^a-z0-9]/g, '');
  const known = meanings.get(written) ?? meanings.get(word);
  if (known) return known;
  if (written.startsWith('$')) return meanings.get(`$${word}`);
  for (const [name, meaning] of recognizedMisspelt) if (distance(written, name) === 1) return meaning;
  return undefined;
}

/** Whether an operator of this meaning combines conditions, so that it may stand anywhere and have any operand. */
export function isCombining(meaning: ForeignMeaning): boolean {
  return meaning === 'not' || meaning === 'or' || meaning === 'and' || meaning === 'element';
}
