import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { findMistakes } from '../../../../schema/definitions/shape-mistakes.ts';
import { filterDefinitions, payloadFilterSchema } from '../../../../schema/filters/payload-filter.ts';
import { filters } from './payload-filter-arbitraries.ts';

describe('a payload filter that is accepted', () => {
  it('is given back as it was written', () => {
    const filter = {
      action: ['opened', 1, true, null],
      issue: { level: { in: ['error'] }, muted: { exists: false } },
    };
    expect(payloadFilterSchema.parse(filter)).toEqual(filter);
  });

  it('keeps odd field names, __proto__ among them, through YAML and through stored JSON', () => {
    const written = parseYaml('{ __proto__: [a], "": [b], constructor: { hasOwnProperty: [c] } }');
    const stored = JSON.stringify(payloadFilterSchema.parse(written));
    expect(stored).toBe('{"__proto__":["a"],"":["b"],"constructor":{"hasOwnProperty":["c"]}}');
    expect(JSON.stringify(payloadFilterSchema.parse(JSON.parse(stored)))).toBe(stored);
  });

  it('reads -0 as 0, as it will be when it is read back from JSON', () => {
    expect(payloadFilterSchema.parse({ a: [-0] })).toStrictEqual({ a: [0] });
  });

  it('may be left out or hold nothing', () => {
    const shape = z.strictObject({ payload: payloadFilterSchema.optional() });
    expect(shape.parse({})).toEqual({});
    expect(shape.parse({ payload: {} })).toEqual({ payload: {} });
  });

  it('may have several operators of a field, and fields that are named like operators', () => {
    const filter = {
      a: { in: ['x'], not_in: ['y'], exists: true, $not_like: ['z*'], $compare: { above: 1 } },
      in: ['z'],
      b: { exists: [true] },
      c: { in: { in: ['x'] }, not_in: { exists: true }, exists: { not_in: [1] }, d: ['x'] },
      e: { $none: { name: ['wip'], owner: { $none: {} } }, exists: true },
      f: { exists: false, not_in: ['x'], in: [], $like: [] },
    };
    expect(payloadFilterSchema.parse(filter)).toEqual(filter);
  });

  it('may ask for patterns and ranges', () => {
    const filter = {
      ref: { $like: ['refs/tags/*'] },
      sender: { $not_like: ['*[bot]'] },
      size: { $compare: { above: -0, at_most: 0.5 } },
    };
    expect(payloadFilterSchema.parse(filter)).toStrictEqual({
      ...filter,
      size: { $compare: { above: 0, at_most: 0.5 } },
    });
  });

  it('may name fields like, not_like, compare and none', () => {
    const filter = {
      like: ['x'],
      a: { like: ['x'], not_like: [1], compare: { at_least: [5] }, none: { name: ['x'] } },
    };
    expect(payloadFilterSchema.parse(filter)).toEqual(filter);
  });

  it('is accepted by the JSON Schema for editors, which refuses operators beside other keys', () => {
    const schema = {
      ...z.toJSONSchema(payloadFilterSchema, { io: 'input' }),
      definitions: filterDefinitions,
    };
    const { $schema: _, ...draft7 } = schema;
    const isValid = new Ajv({ strict: false }).compile(draft7);
    fc.assert(fc.property(filters, filter => isValid(JSON.parse(JSON.stringify(filter)))));
    for (const wrong of [
      { a: { in: ['x'], b: ['y'] } },
      { a: { $like: ['x'], b: ['y'] } },
      { a: { $like: 'x' } },
      { a: { $none: { $like: ['x'] } } },
      { $like: ['x'] },
    ])
      expect({ wrong, isValid: isValid(wrong) }).toEqual({ wrong, isValid: false });
  });

  it('has a JSON Schema for editors', () => {
    expect(z.toJSONSchema(payloadFilterSchema, { io: 'input' })).toMatchObject({ type: 'object' });
  });
});

describe('a payload filter that is refused', () => {
  it.each([
    ['action: opened', ['action'], 'write action: [opened]'],
    ['issue: { level: error }', ['issue', 'level'], 'write level: [error]'],
    ['"a b": "true"', ['a b'], 'write "a b": ["true"]'],
    ['draft: false', ['draft'], 'write draft: [false]'],
    ['a:', ['a'], 'write a: [null] to match null, or a: { exists: false } to match a missing field'],
    ['a: { in: opened }', ['a', 'in'], 'write in: [opened]'],
    ['a: { not_in: opened }', ['a', 'not_in'], 'write not_in: [opened]'],
    ['__proto__: x', ['__proto__'], 'write __proto__: [x]'],
  ])('has a bare scalar: %s', (yaml, path, hint) => {
    const message = expect.stringContaining('must be a list of allowed values');
    expect(problems(parseYaml(yaml))).toEqual([{ code: 'filter/invalid', path, message, hint }]);
  });

  it.each([
    ['exists: true', ['exists'], 'filter/operator-misused'],
    ['a: { exists: true, b: [x] }', ['a', 'b'], 'filter/operator-misused'],
    ['a: { $like: [x], regex: "^x" }', ['a', 'regex'], 'filter/operator-misused'],
    ['a: { in: x, exists: true }', ['a', 'in'], 'filter/invalid'],
    ['a: { $compare: 5 }', ['a', '$compare'], 'filter/invalid'],
    ['a: { $none: [x] }', ['a', '$none'], 'filter/invalid'],
    ['a: { $none: { in: [x] } }', ['a', '$none'], 'filter/operator-misused'],
    ['$like: [x]', ['$like'], 'filter/operator-misused'],
    ['a: { compare: { at_least: 5 } }', ['a', 'compare', 'at_least'], 'filter/unknown-operator'],
    ['a: { regex: "^x" }', ['a', 'regex'], 'filter/unknown-operator'],
    ['a: { in: "x*" }', ['a', 'in'], 'filter/pattern'],
    ['a: { $like: "x%" }', ['a', '$like'], 'filter/pattern'],
    ['a: { $compare: { at_least: 5 }, at_most: 5 }', ['a', 'at_most'], 'filter/operator-misused'],
    ['a.b: x', ['a.b'], 'filter/path-as-key'],
    ['a: [{ prefix: v }]', ['a', 0], 'filter/unknown-operator'],
  ])('has a scalar that brackets would not mend: %s', (yaml, path, code) => {
    expect(problems(parseYaml(yaml))).toMatchObject([{ path, code }]);
  });

  it('is quoted without cutting a character in half', () => {
    const hint = `write a: ["${'x'.repeat(57)}\ufffd…]`;
    expect(problems({ a: `${'x'.repeat(57)}😀 and more` })).toMatchObject([{ hint }]);
  });

  it.each([
    ['{ $like: [1] }', ['$like', 0], 'a pattern is a string, because only strings match patterns'],
    ['{ $not_like: [[a]] }', ['$not_like', 0], 'a pattern is a string, because only strings match patterns'],
    ["{ $like: ['a\\b'] }", ['$like', 0], 'a \\ in a pattern stands only before * or \\'],
    ['{ $compare: {} }', ['$compare'], '$compare has no bound'],
    ['{ $compare: { at_least: 1, above: 1 } }', ['$compare'], 'at_least and above are both the lower bound'],
    ['{ $compare: { at_most: 1, below: 1 } }', ['$compare'], 'at_most and below are both the upper bound'],
    ['{ $compare: { at_least: 2, at_most: 1 } }', ['$compare'], 'the bounds contradict each other'],
    ['{ $compare: { above: 1, at_most: 1 } }', ['$compare'], 'the bounds contradict each other'],
    ['{ $compare: { at_least: null } }', ['$compare', 'at_least'], 'at_least must be a number'],
    ['{ $compare: { atleast: 1 } }', ['$compare', 'atleast'], '"atleast" is not a bound of $compare'],
    ['{ $compare: { below: .inf } }', ['$compare', 'below'], 'Infinity is not a JSON number'],
    ['{ $compare: { below: 9007199254740993 } }', ['$compare', 'below'], 'integers beyond'],
  ])('has an operand that its operator does not take: %s', (operator, path, message) => {
    expect(problems({ a: parseYaml(operator) })).toEqual([
      {
        code: 'filter/invalid',
        path: ['a', ...path],
        message: expect.stringContaining(message),
        hint: expect.any(String),
      },
    ]);
  });

  it.each([
    ['{ in: [x, y], not_in: [z, y] }', ['not_in', 1], 'in and not_in both list "y"'],
    ['{ exists: false, in: [x] }', ['exists'], 'exists: false and in contradict each other'],
    ['{ exists: false, $like: [x] }', ['exists'], 'exists: false and $like contradict each other'],
    [
      '{ exists: false, $compare: { above: 1 } }',
      ['exists'],
      'exists: false and $compare contradict each other',
    ],
  ])('has operators that cannot hold together: %s', (operators, path, message) => {
    expect(problems({ a: parseYaml(operators) })).toEqual([
      {
        code: 'filter/contradiction',
        path: ['a', ...path],
        message: expect.stringContaining(message),
        hint: expect.any(String),
      },
    ]);
  });

  it.each([
    ['{ like: ["x*"], exists: true }', 'like', 'write $like instead of like'],
    [
      '{ name: [x], in: [x] }',
      'name',
      expect.stringContaining('keep only operators (in, not_in, exists, $like'),
    ],
  ])('has an operator with another key beside it: %s', (value, other, hint) => {
    const message = expect.stringContaining(`"${other}" is no operator, so it cannot stand beside`);
    const code = 'filter/operator-misused';
    expect(problems({ a: parseYaml(value) })).toEqual([{ code, path: ['a', other], message, hint }]);
  });

  it('has an exists that is neither true nor false', () => {
    const mistake = { path: ['a', 'exists'], message: 'exists must be true or false' };
    expect(problems(parseYaml('a: { exists: "yes" }'))).toMatchObject([mistake]);
  });

  it.each([
    ['[a]', []],
    ['opened', []],
    ['null', []],
    ['a: [[b]]', ['a', 0]],
    ['a: [b, { c: d }]', ['a', 1]],
    ['a: { in: [b, { c: d }] }', ['a', 'in', 1]],
    ['a: [.inf]', ['a', 0]],
    ['a: [.nan]', ['a', 0]],
  ])('is not built of lists, operators and nested objects: %s', (yaml, path) => {
    expect(problems(parseYaml(yaml))).toEqual([expect.objectContaining({ code: 'filter/invalid', path })]);
  });

  it.each(['9007199254740992', '9007199254740993', '-9007199254740993', '1e21'])(
    'has an integer that is not exact: %s',
    number => {
      const message = 'integers beyond ±9007199254740991 (2^53-1) cannot be compared exactly';
      expect(problems(parseYaml(`a: { not_in: [1, ${number}] }`))).toEqual([
        expect.objectContaining({ code: 'filter/invalid', path: ['a', 'not_in', 1], message }),
      ]);
    },
  );

  it('has every mistake reported at once', () => {
    expect(problems(parseYaml('{ a: b, c: { d: e, f: [[]] } }')).map(problem => problem.path)).toEqual([
      ['a'],
      ['c', 'd'],
      ['c', 'f', 0],
    ]);
  });
});

describe('the bounds of a payload filter', () => {
  const tooLarge = (path: PropertyKey[]) => [expect.objectContaining({ code: 'filter/too-large', path })];

  it('are 16 nested objects, the filter itself among them and operators not', () => {
    expect(problems(nest(15, { a: { in: ['x'] } }))).toEqual([]);
    expect(problems(nest(16, { a: ['x'] }))).toEqual(tooLarge(Array(16).fill('a')));
    expect(problems(nest(60_000, { a: ['x'] }))).toEqual(tooLarge(Array(16).fill('a')));
  });

  it('are 200 keys over all levels, those of operators not among them', () => {
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, { in: [i] }]));
    expect(problems({ a: fields(99), b: fields(99) })).toEqual([]);
    expect(problems({ a: fields(99), b: fields(100) })).toEqual(tooLarge([]));
  });

  it('are 50 patterns a list, of 250 characters and 64 stars', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `x${index}*`);
    expect(
      problems({ a: { $like: many(50) }, b: { $not_like: ['a*'.repeat(64), 'x'.repeat(250)] } }),
    ).toEqual([]);
    expect(problems({ a: { $like: many(51) } })).toEqual(tooLarge(['a', '$like']));
    expect(problems({ a: { $like: ['*', 'a*'.repeat(65)] } })).toEqual(tooLarge(['a', '$like', 1]));
    expect(problems({ a: { $not_like: ['x'.repeat(251)] } })).toEqual(tooLarge(['a', '$not_like', 0]));
  });

  it('are 500 values a list', () => {
    expect(problems({ a: Array(500).fill('x'), b: { not_in: Array(500).fill('x') } })).toEqual([]);
    expect(problems({ a: Array(501).fill('x') })).toEqual(tooLarge(['a']));
    expect(problems({ a: { not_in: Array(501).fill('x') } })).toEqual(tooLarge(['a', 'not_in']));
  });
});

function problems(filter: unknown) {
  const { error } = payloadFilterSchema.safeParse(filter);
  const mistakes = error ? findMistakes(error, payloadFilterSchema, filter) : [];
  return mistakes.map(({ code, path, message, hint }) => ({ code, path, message, hint }));
}

function nest(levels: number, innermost: object): object {
  let filter = innermost;
  for (let level = 0; level < levels; level++) filter = { a: filter };
  return filter;
}
