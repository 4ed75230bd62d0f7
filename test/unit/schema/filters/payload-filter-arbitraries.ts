import fc from 'fast-check';
import type {
  Bounds,
  FilterValue,
  Operators,
  PayloadFilter,
  Scalar,
} from '../../../../schema/filters/clause.ts';
import { payloadFilterSchema } from '../../../../schema/filters/payload-filter.ts';

// Few names and values, so that filters and payloads meet; odd ones among them.
const names = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b') },
  fc.constantFrom(
    ...['in', 'not_in', 'exists', 'like', '$none', 'compare', 'at_least'],
    ...['__proto__', 'constructor', 'length', '0', ''],
  ),
);
const scalars: fc.Arbitrary<Scalar> = fc.constantFrom<Scalar[]>(
  'x',
  'y',
  '',
  '1',
  'x/y',
  'xyxy',
  '*',
  '\\x',
  0,
  -0,
  1,
  0.5,
  true,
  false,
  null,
);
const lists = fc.array(scalars, { maxLength: 4 });
// Few characters, so that many patterns match; each is whole.
const globParts = fc.constantFrom('*', '*', 'x', 'y', '/', '1', 'xy', '\\*', '\\\\');
const globs = fc.array(
  fc.array(globParts, { maxLength: 5 }).map(parts => parts.join('')),
  { maxLength: 3 },
);
const numbers = fc.constantFrom(-1, -0, 0, 0.5, 1, 2 ** 52);
/** Both bounds, one or none, of which the schema accepts some. */
const bounds: fc.Arbitrary<Bounds> = fc
  .tuple(fc.constantFrom('at_least', 'above', 'none'), numbers, fc.constantFrom('at_most', 'below'), numbers)
  .map(([low, from, high, to]) =>
    Object.fromEntries([low === 'none' ? [high, to] : [low, from], [high, to]]),
  );

function objectOf<T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc
    .uniqueArray(fc.tuple(names, values), { maxLength: 3, selector: ([name]) => name })
    .map(Object.fromEntries);
}

/** Filters that the schema accepts. */
export const filters: fc.Arbitrary<PayloadFilter> = fc
  .letrec<{ filter: PayloadFilter; value: FilterValue; operators: FilterValue }>(tie => ({
    filter: objectOf(tie('value')),
    value: fc.oneof({ depthSize: 'small' }, lists, tie('operators'), tie('operators'), tie('filter')),
    operators: fc
      .uniqueArray(
        fc.oneof<fc.Arbitrary<[keyof Operators<Scalar>, unknown]>[]>(
          fc.tuple(fc.constant('in'), lists),
          fc.tuple(fc.constant('not_in'), lists),
          fc.tuple(fc.constant('exists'), fc.boolean()),
          fc.tuple(fc.constant('$like'), globs),
          fc.tuple(fc.constant('$not_like'), globs),
          fc.tuple(fc.constant('$compare'), bounds),
          fc.tuple(fc.constant('$none'), fc.oneof(tie('filter'), fc.constant({}))),
        ),
        { minLength: 1, maxLength: 2, selector: ([operator]) => operator },
      )
      .map(Object.fromEntries),
  }))
  .filter.filter(filter => payloadFilterSchema.safeParse(filter).success);

/** Whatever `JSON.parse` may return, with the names and values of the filters. */
export const payloads: fc.Arbitrary<unknown> = fc.letrec(tie => ({
  payload: fc.oneof(
    { depthSize: 'medium' },
    scalars,
    fc.constantFrom(Number.POSITIVE_INFINITY, 2 ** 53, 1e300),
    fc.array(tie('payload'), { maxLength: 4 }),
    objectOf(tie('payload')),
    objectOf(tie('payload')),
  ),
})).payload;

/** A filter with a payload: half of them have what the filter asks for, as far as a guess goes. */
export const pairs: fc.Arbitrary<readonly [PayloadFilter, unknown]> = filters.chain(filter =>
  fc.tuple(fc.constant(filter), fc.oneof(payloads, fc.constant(answer(filter)))),
);

function answer(asked: unknown): unknown {
  if (Array.isArray(asked)) return asked[0];
  const { in: allowed, $like: globs, $compare: range, exists, ...fields } = asked as Operators<Scalar>;
  if (Array.isArray(allowed)) return allowed[0];
  if (Array.isArray(globs)) return globs[0]?.replaceAll('*', '');
  if (range && Object.hasOwn(asked as object, '$compare')) return Object.values(range)[0];
  if (typeof exists === 'boolean') return exists ? 'y' : undefined;
  const answers = Object.entries(fields).map(([name, value]) => [name, answer(value)]);
  return Object.fromEntries(answers.filter(([, value]) => value !== undefined));
}

const bytes = 262_144;

/** Bodies within the size limit, as far out of shape as it allows. None has the value "x" in a field "a". */
export const hostilePayloads: readonly (readonly [title: string, body: string])[] = [
  ['objects nested 40,000 deep', `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`],
  ['arrays nested as deep as the limit allows', `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`],
  ['arrays and objects in turn', `${'[{"a":'.repeat(30_000)}[]${'}]'.repeat(30_000)}`],
  ['a flat array of as many elements as fit', `[${'0,'.repeat(bytes / 2 - 2)}0]`],
  ['as many empty objects as fit', `{"a":[${'{},'.repeat(bytes / 3 - 4)}{}]}`],
  ['__proto__ all the way down', `${'{"__proto__":'.repeat(15_000)}{"a":"x"}${'}'.repeat(15_000)}`],
  ['own fields that shadow methods', '{"hasOwnProperty":1,"toString":null,"valueOf":{},"toJSON":1,"then":1}'],
  ['a number beyond all doubles', '{"a":1e400}'],
  ['an integer that is no double', '{"a":9007199254740993}'],
  ['a string of the whole size', `{"a":"${'x'.repeat(bytes - 8)}"}`],
];
