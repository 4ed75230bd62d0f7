import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatJson } from '../../../schema/text/json-text.ts';

test('breaks JSON into lines as JSON.stringify does', () => {
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
