import { expect, test } from 'vitest';
import { parseJsonText } from '../../../../json/parse-json-text.ts';
import { closeCutJson } from '../../../../schema/summaries/read-beginning.ts';

test.for([
  ['{"a":1,"b":[{"c":"x","d":tr', { a: 1, b: [{ c: 'x' }] }],
  ['{"a":1,"b":[1,2', { a: 1, b: [1] }],
  [String.raw`{"a":"\"},{","b":"cut \"`, { a: '"},{' }],
  ['[[],[{}', [[], [{}]]],
  ['{"a":{"b":1}', { a: { b: 1 } }],
  ['{"a":{"b":1}}', { a: { b: 1 } }],
  ['{"only":"a text that was cu', {}],
] as const)('closes %s', ([beginning, value], { expect }) => {
  expect(parseJsonText(closeCutJson(beginning))).toEqual(value);
});

test('has nothing to close where nothing was complete', () => {
  expect(['"a text that', '12', '', 'tru'].map(closeCutJson)).toEqual(['', '', '', '']);
});

test('makes JSON of every beginning of a JSON text, also of a very deep one', () => {
  const text = String.raw`{"a":[1,-2.5e3,"\u00e9\\",null,{"b\"}":[],"c":{}}],"d":[[true,false]],"e":""}`;
  for (let length = 1; length <= text.length; length++) {
    const closed = closeCutJson(text.slice(0, length));
    expect(() => parseJsonText(closed)).not.toThrow();
  }
  expect(() => parseJsonText(closeCutJson('['.repeat(32_768)))).not.toThrow();
});
