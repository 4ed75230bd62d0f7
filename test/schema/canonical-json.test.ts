import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCanonicalJson } from '../../schema/text/json-text.ts';

test('sorts keys at every level, and keeps the order of arrays', () => {
  const value = { b: [{ d: 1, c: 2 }, 3], a: null };
  expect(toCanonicalJson(value)).toBe('{"a":null,"b":[{"c":2,"d":1},3]}');
});

test('takes `__proto__` as a key like any other', () => {
  const value = JSON.parse('{"b":1,"__proto__":{"d":2,"c":3}}');
  expect(toCanonicalJson(value)).toBe('{"__proto__":{"c":3,"d":2},"b":1}');
});

test('writes values that are equal as JSON alike, whatever the order of their keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), object => {
      const reversed = Object.fromEntries(Object.entries(object).reverse());
      expect(toCanonicalJson(reversed)).toBe(toCanonicalJson(object));
    }),
  );
});
