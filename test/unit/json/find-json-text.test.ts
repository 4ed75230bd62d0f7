import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTextFinder } from '../../../json/find-json-text.ts';
import { parseJsonText } from '../../../json/parse-json-text.ts';

/** All paths of a value. */
function listPaths(
  value: unknown,
  path: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const children = Array.isArray(value)
    ? value.map((child, index) => [index, child] as const)
    : Object.entries(value);
  return [path, ...children.flatMap(([key, child]) => listPaths(child, [...path, key]))];
}

const read = (value: unknown, path: readonly (string | number)[]) =>
  path.reduce<unknown>((inner, step) => Reflect.get(inner as object, step), value);

test('finds the text of every value of any JSON, however it is spaced and escaped', () => {
  const spaces = fc.constantFrom('', ' ', '\t', '\n  ');
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), spaces, (made, space) => {
      const text = `${space}${JSON.stringify(made, null, space)}${space}`;
      // Not the value itself: JSON.stringify writes -0 as 0.
      const value = parseJsonText(text);
      const find = createTextFinder(text);
      for (const path of listPaths(value)) expect(parseJsonText(find(path) ?? '')).toEqual(read(value, path));
    }),
  );
});

test.each([
  ['{"id": 9007199254740993, "rate": 1.10}', ['id'], '9007199254740993'],
  ['{"id": 9007199254740993, "rate": 1.10}', ['rate'], '1.10'],
  [' [1e400 , -0]\n', [0], '1e400'],
  ['{"a": {"b": [{}, "x]}"]}}', ['a', 'b', 1], '"x]}"'],
  ['{"a": 1, "a": {"b": 2}, "a": {"b": 3}}', ['a', 'b'], '3'],
  ['{"\\u0061\\"": "\\\\"}', ['a"'], '"\\\\"'],
  ['{"__proto__": {"polluted": 1}}', ['__proto__', 'polluted'], '1'],
  ['{"__proto__": {"polluted": 1}}', ['polluted'], undefined],
  ['{"a": [1]}', ['constructor'], undefined],
  ['{"a": [1]}', ['a', 'length'], undefined],
  ['{"0": 1}', [0], undefined],
  ['[1]', ['0'], undefined],
  ['[1]', [1], undefined],
  ['[]', [0], undefined],
  ['{}', [''], undefined],
  ['"text"', [0], undefined],
  ['null', [], 'null'],
] as const)('in %s, %j has the text %s', (text, path, expected) => {
  expect(createTextFinder(text)(path)).toBe(expected);
});

test('looks into a deep and a long text', () => {
  const depth = 200_000;
  const text = `{"deep": ${'['.repeat(depth)}${']'.repeat(depth)}, "list": [${'0,'.repeat(100_000)}7]}`;
  const find = createTextFinder(text);
  expect(find(['deep'])).toHaveLength(2 * depth);
  expect(find(['list', 100_000])).toBe('7');
});
