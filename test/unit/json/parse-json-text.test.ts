import { describe, expect, test } from 'vitest';
import { hasEscapedKeyDefect, parseJsonText } from '../../../json/parse-json-text.ts';

describe('a key with escapes', () => {
  test.for([
    [String.raw`{"id":1,"gr\\u0":1}`, String.raw`{"id":1,"gr\u00f6\u00dfe":"xl"}`, { id: 1, größe: 'xl' }],
    [String.raw`{"h":[],"\\":0}`, String.raw`{"h":1,"\"":2}`, { h: 1, '"': 2 }],
    [String.raw`{"f":1,"a\\/":0}`, String.raw`{"f":1,"a\/b":2}`, { f: 1, 'a/b': 2 }],
    [String.raw`[{"n":1,"\\":0,"z":0}]`, String.raw`[{"n":1,"\n":2,"z":3}]`, [{ n: 1, '\n': 2, z: 3 }]],
  ])('is read as itself after %s: %s', ([earlier, text, value]) => {
    for (let round = 0; round < 3; round++) {
      parseJsonText(earlier as string);
      expect(JSON.stringify(parseJsonText(text as string))).toBe(JSON.stringify(value));
    }
  });

  test.for([
    ['the last of two keys that are the same', String.raw`{"\u0061":1,"b":2,"a":3}`, '{"a":3,"b":2}'],
    ['keys that are numbers first', String.raw`{"b":1,"\u0031":2,"0":3}`, '{"0":3,"1":2,"b":1}'],
    ['a negative zero and numbers beyond doubles', String.raw`{"\/":[-0,1e400,-1.5E-2]}`, undefined],
    [
      'the names of all literals',
      String.raw`{"\/":[true,false,null,"true"]}`,
      '{"/":[true,false,null,"true"]}',
    ],
    ['spaces between all tokens', '\r\n{ "\\/" \t: [ 1 , { } , [ ] ] }\n', '{"/":[1,{},[]]}'],
    [
      'values that look like keys',
      String.raw`{"\/":"\":","b":"\\\":\\"}`,
      String.raw`{"/":"\":","b":"\\\":\\"}`,
    ],
    ['half a surrogate pair', String.raw`{"\ud800":"\udc00"}`, String.raw`{"\ud800":"\udc00"}`],
  ])('keeps %s', ([, text, expected]) => {
    const read = parseJsonText(text as string);
    if (expected) expect(JSON.stringify(read)).toBe(expected);
    else expect(read).toStrictEqual({ '/': [-0, Number.POSITIVE_INFINITY, -0.015] });
  });

  test('may be __proto__, which becomes a field like any other', () => {
    const read = parseJsonText(String.raw`{"__pr\u006fto__":{"a":1},"b":2}`) as object;
    expect(Object.entries(read)).toEqual([
      ['__proto__', { a: 1 }],
      ['b', 2],
    ]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  test('may be followed by any depth', () => {
    const depth = 131_072;
    const text = `{"\\/":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    let { '/': inner } = parseJsonText(text) as { '/': unknown };
    let found = 0;
    for (; Array.isArray(inner); inner = inner[0]) found++;
    expect(found).toBe(depth);
  });
});

test('fails with the message of JSON.parse, which says where', () => {
  for (const text of ['', '{"\\/":1,}', '{"\\x":1}', '{"\\/":"\n"}', '{"\\/":01}', '{"\\/":1']) {
    const message = messageOf(() => JSON.parse(text));
    expect(message).toMatch(/JSON/);
    expect(messageOf(() => parseJsonText(text))).toBe(message);
  }
});

test('knows whether the engine has the defect', () => {
  JSON.parse(String.raw`{"i":2,"gr\\u0":1}`);
  const { größe } = JSON.parse(String.raw`{"i":2,"gr\u00f6\u00dfe":"xl"}`);
  expect(hasEscapedKeyDefect()).toBe(größe !== 'xl');
});

function messageOf(call: () => unknown): string {
  try {
    call();
    return 'no error';
  } catch (error) {
    return String(error);
  }
}
