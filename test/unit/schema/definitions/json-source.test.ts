import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../../schema/definitions/json-source.ts';

const parse = (text: string) => parseJson('a.json', text);

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}

test('takes what JSON.parse takes, also after a byte order mark, and nothing else', () => {
  const pieces = fc.constantFrom(
    ...'{}[]:,"\\ \n\t-.eE+0123u',
    ',}',
    ',]',
    'true',
    'false',
    'null',
    '"a"',
    '\\u00e9',
    '\ufeff',
    '\u2028',
  );
  const mangled = fc.tuple(fc.json(), fc.nat(), fc.nat({ max: 3 }), pieces).map(([json, at, drop, piece]) => {
    const place = at % (json.length + 1);
    return json.slice(0, place) + piece + json.slice(place + drop);
  });
  const texts = fc.oneof(
    fc.json(),
    mangled,
    fc.array(pieces, { maxLength: 12 }).map(found => found.join('')),
  );
  fc.assert(
    fc.property(texts, text => {
      expect(parse(text).ok).toBe(isJson(text));
    }),
    {
      numRuns: 5_000,
      examples: [
        '{"a":1,}',
        '[1,]',
        '{,}',
        '[,1]',
        '{"a"}',
        '{"a":}',
        '{a:1}',
        '[1}',
        '1 2',
        '01',
        '"\\x"',
      ].map((found): [string] => [found]),
    },
  );
});

test('finds keys and values of the outermost object, and the last of a duplicate key', () => {
  const json = parse('{"a": 1,\n "b\\u0021": {"a": [2]},\n "a": "x"}');
  if (!json.ok) throw new Error(json.expected);
  const { rangeOfKey, rangeOfValue } = json.source;
  expect(rangeOfKey(['a'])).toEqual({ start: { line: 3, column: 2 }, end: { line: 3, column: 5 } });
  expect(rangeOfValue(['a'])).toEqual({ start: { line: 3, column: 7 }, end: { line: 3, column: 10 } });
  expect(rangeOfValue(['b!', 'a'])).toEqual({ start: { line: 2, column: 13 }, end: { line: 2, column: 23 } });
  expect(rangeOfValue(['c']).start).toEqual({ line: 1, column: 1 });
});

test('survives nesting as deep as a payload may be large, and strings as long', () => {
  const deep = 250_000;
  expect(parse(`${'['.repeat(deep)}${']'.repeat(deep)}`).ok).toBe(true);
  expect(parse(`${'['.repeat(deep)}x`).ok).toBe(false);
  expect(parse(`"${'é'.repeat(500_000)}"`).ok).toBe(true);
  expect(parse(`"${'\\n'.repeat(250_000)}`).ok).toBe(false);
});
