import fc from 'fast-check';
import { expect, test } from 'vitest';
import { prettyJson } from '../../../dashboard/text/format-json.ts';

test('sets JSON out over lines, as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      expect(prettyJson(text)).toBe(JSON.stringify(JSON.parse(text), null, 2));
    }),
  );
});

test('keeps what a parser would lose: long numbers, twin keys, escapes', () => {
  const text = '{"a":12345678901234567890,"a":1E400,"b":"\\u0041\\/"}';
  expect(prettyJson(text)).toBe('{\n  "a": 12345678901234567890,\n  "a": 1E400,\n  "b": "\\u0041\\/"\n}');
});

test('stays small however deep the nesting', () => {
  const text = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(prettyJson(text).length).toBeLessThan(text.length + 10_000);
});
