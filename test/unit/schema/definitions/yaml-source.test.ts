import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { definitionBytesMax, parseYaml } from '../../../../schema/definitions/yaml-source.ts';
import { definitionDepthMax } from '../../../../schema/definitions/yaml-syntax-mistakes.ts';
import { anyText } from '../../../support/any-text.ts';

const parse = (content: string | Uint8Array) => parseYaml('a.yaml', Buffer.from(content));

/** Each problem as `line:column-line:column code`, the second place only where it is on another line. */
function problems(content: string | Uint8Array): string[] {
  const parsed = parse(content);
  if (parsed.ok) return [];
  return parsed.diagnostics.map(({ code, range }) => {
    return range ? `${range.start.line}:${range.start.column}-${range.end.column} ${code}` : code;
  });
}

function value(content: string | Uint8Array): unknown {
  const parsed = parse(content);
  return parsed.ok ? parsed.source.value : parsed.diagnostics;
}

describe('bounds', () => {
  const atBound = `a: ${'x'.repeat(definitionBytesMax - 3)}`;

  test('takes 64 KiB and refuses one byte more', () => {
    expect(atBound).toHaveLength(65_536);
    expect(value(atBound)).toHaveProperty('a');
    expect(problems(`${atBound}x`)).toEqual(['yaml/too-large']);
  });

  test('takes collections as deep as the bound', () => {
    const depth = definitionDepthMax;
    expect(problems(`${'['.repeat(depth)}${']'.repeat(depth)}`)).toEqual([]);
    expect(problems(`${'['.repeat(depth + 1)}${']'.repeat(depth + 1)}`)).toEqual(['1:65-66 yaml/too-deep']);
  });

  test.for([
    ['900 brackets', '['.repeat(900), '1:65-66'],
    ['60,000 brackets', '['.repeat(60_000), '1:65-66'],
    ['sequences in sequences', '- '.repeat(30_000), '1:129-130'],
    ['keys of keys', '? '.repeat(30_000), '1:129-130'],
    ['empty keys', ': '.repeat(30_000), '1:129-130'],
    ['keys of sequences', '- ? '.repeat(15_000), '1:129-130'],
    ['flow mappings', '{a: '.repeat(15_000), '1:257-258'],
    ['explicit keys in flow sequences', '[? '.repeat(15_000), '1:193-194'],
    ['block mappings', indented(300, 'a:'), '65:65-66'],
    ['block sequences', indented(300, '-'), '65:65-66'],
    ['sequences that end together', `${'- '.repeat(30_000)}\na`, '1:129-130'],
    ['keys that end together', `${'? '.repeat(30_000)}]`, '1:129-130'],
    ['explicit keys on lines of their own', indented(300, '?'), '65:65-66'],
  ] as const)('reports where %s nest too deep', ([_, text, place]) => {
    expect(problems(text)).toEqual([`${place} yaml/too-deep`]);
  });

  function indented(levels: number, text: string): string {
    return Array.from({ length: levels }, (_, level) => `${' '.repeat(level)}${text}`).join('\n');
  }

  test('reports at most ten syntax mistakes', () => {
    expect(problems(Array.from({ length: 50 }, (_, i) => `k${i}: "\\q"`).join('\n'))).toHaveLength(10);
  });
});

describe('what definitions do not use', () => {
  test.for([
    ['anchors and aliases', 'a: &x 1\nb: *x\n', ['1:4-6 yaml/alias', '2:4-6 yaml/alias']],
    ['an alias of nothing', 'a: *x\n', ['1:4-6 yaml/alias']],
    ['an anchor on a key', 'a: 1\n&x b: 1\n', ['2:1-3 yaml/alias']],
    ['an alias as a key', 'a: &x y\n*x : 1\n', ['1:4-6 yaml/alias', '2:1-3 yaml/key']],
    ['tags', 'a: !!str 1\nb: !thing x\n', ['1:4-9 yaml/tag', '2:4-10 yaml/tag']],
    ['a tag that would make an object', 'a: !!timestamp 2020-01-01\n', ['1:4-15 yaml/tag']],
    ['both on a collection', 'a: &x !y # why\n  b: 1\n', ['1:4-6 yaml/alias', '1:7-9 yaml/tag']],
    ['a tag on the file', '--- !x\na: 1\n', ['1:5-7 yaml/tag']],
    ['a tag on a key', '!!str a: 1\n', ['1:1-6 yaml/tag']],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', ['3:1-2 yaml/duplicate-key']],
    ['a key twice, once in quotes', 'a:\n  b: 1\n  "b": 2\n', ['3:3-6 yaml/duplicate-key']],
    ['__proto__ twice', '__proto__: 1\n__proto__: 2\n', ['2:1-10 yaml/duplicate-key']],
    ['a number as a key', '1: a\n', ['1:1-2 yaml/key']],
    ['null as a key', 'null: a\n', ['1:1-5 yaml/key']],
    ['a list as a key', '? [a]\n: b\n', ['1:3-6 yaml/key']],
    ['a mapping as a key', '{a: 1}: 2\n', ['1:1-7 yaml/key']],
    ['a second document', 'a: 1\n---\nb: 1\n', ['2:1-4 yaml/multiple-documents']],
    ['a document after the end of one', 'a: 1\n...\nb: 1\n', ['3:1-4 yaml/multiple-documents']],
    ['two empty documents', '---\n---\n', ['2:1-4 yaml/multiple-documents']],
    ['YAML 1.1, where yes is a boolean', '%YAML 1.1\n---\na: yes\n', ['1:1-10 yaml/directive']],
    ['a directive for tags', '# x\n%TAG ! tag:example.com,2000:\n---\na: 1\n', ['2:1-29 yaml/directive']],
  ] as const)('refuses %s', ([_, text, expected]) => {
    expect(problems(text)).toEqual(expected);
  });
});

describe('encoding', () => {
  test.for([
    ['NUL', 'a: 1\nb: x\0y\n', ['2:5-6 yaml/encoding']],
    ['an escape character', 'a: 1\n\nb: "\x1b[31m"\n', ['3:5-6 yaml/encoding']],
    ['DEL', '\x7f', ['1:1-2 yaml/encoding']],
    ['a C1 control character', 'a: \u009b\n', ['1:4-5 yaml/encoding']],
    ['a byte that is not UTF-8', Buffer.from('a: 1\nbé: \xff\n', 'latin1'), ['2:2-3 yaml/encoding']],
    ['a character cut off', Buffer.from([0x61, 0x3a, 0x20, 0xe2, 0x82]), ['1:4-5 yaml/encoding']],
    ['UTF-16', Buffer.from('\ufeffa: 1', 'utf16le'), ['1:1-2 yaml/encoding']],
  ] as const)('reports where %s stands', ([_, content, expected]) => {
    expect(problems(content)).toEqual(expected);
  });

  test('names the control character', () => {
    const parsed = parse('a: "\x1b"');
    expect(parsed.ok || parsed.diagnostics[0]?.message).toContain('U+001B');
  });

  test('passes over a byte order mark without moving columns', () => {
    expect(value('\ufeffa: 1\n')).toEqual({ a: 1 });
    expect(problems('\ufeffa: *x\n')).toEqual(['1:4-6 yaml/alias']);
  });

  test('counts lines that end in CR LF', () => {
    expect(value('a: 1\r\nb: |\r\n  x\r\n  y\r\n')).toEqual({ a: 1, b: 'x\ny\n' });
    expect(problems('a: 1\r\nb: 2\r\nb: 3\r\n')).toEqual(['3:1-2 yaml/duplicate-key']);
  });

  test('takes control characters that are written as escapes', () => {
    expect(value('a: "x\\e\\0"\n')).toEqual({ a: 'x\x1b\0' });
  });
});

describe('syntax', () => {
  test.for([
    ['a tab for indentation', 'a:\n\tb: 1\n', '2:1-2'],
    ['a key indented further than the one above', 'a: token\n bc: 1\n', '2:2-4'],
    ['such a key after lines of text', 'a: x\n  y\n  bc: 1\nd: 1\n', '3:3-5'],
    ['such a key in a list', 'a:\n  - b: x\n     cd: 1\n', '3:6-8'],
    ['a key indented less than the one above', 'a:\n  b: 1\n c: 1\n', '3:1-2'],
    ['a key indented further than one with a quoted value', 'a: "x"\n  b: 1\n', '2:1-2'],
    ['a bracket left open', 'a: 1\nb: [x\n', '2:4-5'],
    ['a quote left open', 'a: "x\n', '1:4-5'],
    ['a reserved character', 'a: @x\n', '1:4-5'],
    ['a mapping in a line', 'a: b: c\n', '1:4-5'],
    ['a merge conflict', 'a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> topic\n', '2:1-13'],
  ] as const)('reports where %s stands', ([_, text, place]) => {
    expect(problems(text)).toEqual([`${place} yaml/syntax`]);
  });
});

describe('values', () => {
  test.for([
    ['an empty file', '', null],
    ['comments alone', '# nothing\n\n# here\n', null],
    ['a document marker alone', '---\n', null],
    [
      'YAML 1.2 scalars',
      '[yes, on, 010, 0o10, 1_000, ~, 2020-01-01]',
      ['yes', 'on', 10, 8, '1_000', null, '2020-01-01'],
    ],
    ['a merge key as an ordinary one', '<<: {a: 1}\n', { '<<': { a: 1 } }],
  ] as const)('reads %s', ([_, text, expected]) => {
    expect(value(text)).toEqual(expected);
  });

  test('keeps __proto__ and constructor as ordinary keys', () => {
    const read = value('__proto__: {polluted: true}\nconstructor: 1\n');
    expect(Object.keys(read as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('places', () => {
  const parsed = parse('a:\n  - b: [1, two]\n    c:\n');
  if (!parsed.ok) throw new Error('the sample is valid');
  const { rangeOfKey, rangeOfValue } = parsed.source;

  test('finds keys and values by their path', () => {
    expect(rangeOfKey(['a', 0, 'b']).start).toEqual({ line: 2, column: 5 });
    expect(rangeOfValue(['a', 0, 'b', 1])).toEqual({
      start: { line: 2, column: 12 },
      end: { line: 2, column: 15 },
    });
  });

  test('are right after a flow mapping where a key should be', () => {
    const text = 'a:\n  - b: 1\n{\n  "b": "x",\n  "c": {}\n}\n{\n  "d": 3\n}\n';
    const lines = problems(text).map(found => found.split(':')[0]);
    expect(lines).toEqual(['3', '6', '7', '8', '9']);
  });

  test('gives the nearest collection for a missing value', () => {
    expect(rangeOfValue(['a', 0, 'missing', 'deeper']).start).toEqual({ line: 2, column: 5 });
    expect(rangeOfValue(['a', 7]).start).toEqual({ line: 1, column: 1 });
  });
});

describe('whatever the bytes', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    anyText(300).map(text => Buffer.from(text)),
    // Characters that YAML gives a meaning, so that more than the first of them is looked at.
    fc
      .array(
        fc.constantFrom(
          ...'-?:,[]{}#&*!|>\'"%@`<=~ \t\r\n\0\ufeff\x85',
          'a',
          '1',
          '---\n',
          '...\n',
          '<<: ',
          'é',
        ),
        {
          maxLength: 200,
        },
      )
      .map(parts => Buffer.from(parts.join(''))),
  );

  test('gives a value or at least one diagnostic in the text, and never throws', () => {
    fc.assert(fc.property(bytes, isHandled), { numRuns: 1_000 });
  });

  test('survives every mutation of a valid file', () => {
    const valid = Buffer.from(
      'prompt: |\n  do it\ntriggers:\n  - filter: {webhook_ids: [wh_x], payload: {a: {in: ["x", 1.5, null]}}}\n',
    );
    const edit = fc.record({
      at: fc.nat({ max: valid.length }),
      drop: fc.nat({ max: 20 }),
      insert: bytes,
    });
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), edits => {
        let mutated: Uint8Array = valid;
        for (const { at, drop, insert } of edits) {
          mutated = Buffer.concat([mutated.subarray(0, at), insert, mutated.subarray(at + drop)]);
        }
        isHandled(mutated);
      }),
      { numRuns: 1_000 },
    );
  });

  function isHandled(content: Uint8Array): void {
    const parsed = parseYaml('a.yaml', content);
    if (parsed.ok) {
      expect(() => JSON.stringify(parsed.source.value)).not.toThrow();
      return;
    }
    expect(parsed.diagnostics.length).toBeGreaterThan(0);
    const lineCount = parsed.text.split('\n').length;
    for (const { range } of parsed.diagnostics) {
      if (!range) continue;
      expect(range.start.line).toBeGreaterThanOrEqual(1);
      expect(range.start.line).toBeLessThanOrEqual(lineCount);
      expect(range.start.column).toBeGreaterThanOrEqual(1);
      expect(range.end.line).toBeGreaterThanOrEqual(range.start.line);
      if (range.end.line === range.start.line) {
        expect(range.end.column).toBeGreaterThanOrEqual(range.start.column);
      }
    }
  }
});

test.each([
  ['prompt: {{ title }}', '1:10-19 yaml/key'],
  ['prompt: {{ title }} is new', '1:9-11 yaml/syntax'],
  ['prompt: {{ labels | join(", ") }}\nb: 1\n', '1:9-11 yaml/syntax'],
  ['a:\n  - {{ x }}/{{ y }}', '2:5-7 yaml/syntax'],
  ['a: [b, {{ x }}]', '1:9-14 yaml/key'],
  [`a: [\${{ x }}]`, '1:6-8 yaml/syntax'],
])('explains the template in %j', (text, problem) => {
  expect(problems(text)).toEqual([problem]);
  expect(parse(text)).toMatchObject({ diagnostics: [{ hint: 'put the whole text in quotes' }] });
});

test.each(['a: [bug #1]', 'a: [bug, #1]', 'a: [#bug]', 'a: { b: c #1 }'])(
  'says what hides the closing bracket of %j',
  text => {
    expect(parse(text)).toMatchObject({
      diagnostics: [{ code: 'yaml/syntax', hint: expect.stringContaining('the # starts a comment') }],
    });
  },
);
