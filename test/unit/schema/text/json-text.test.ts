import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatJson, listJsonSpellings, toCanonicalJson } from '../../../../schema/text/json-text.ts';

describe('canonical JSON', () => {
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
});

test('spells a text in each way in which an encoder may write it', () => {
  expect(listJsonSpellings('order-4711')).toEqual(['order-4711']);
  expect(listJsonSpellings('a/"é😀')).toEqual([
    'a/"é😀',
    'a/\\"é😀',
    'a/\\"\\u00e9\\ud83d\\ude00',
    'a/\\"\\u00E9\\uD83D\\uDE00',
    'a\\/"é😀',
    'a\\/\\"é😀',
    'a\\/\\"\\u00e9\\ud83d\\ude00',
    'a\\/\\"\\u00E9\\uD83D\\uDE00',
  ]);
});

describe('formatted JSON', () => {
  test('is broken into lines as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(formatJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
      }),
    );
  });

  test('keeps what a parser would lose: long numbers, duplicate keys, escapes', () => {
    const text = '{"a":12345678901234567890,"a":1E400,"b":"\\u0041\\/"}';
    expect(formatJson(text)).toBe('{\n  "a": 12345678901234567890,\n  "a": 1E400,\n  "b": "\\u0041\\/"\n}');
  });

  test('adds little to deeply nested text', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(formatJson(text).length).toBeLessThan(text.length + 10_000);
  });
});
