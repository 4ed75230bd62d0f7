import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DiffLine, showChange } from '../../../../schema/changes/show-change.ts';

function show(change: { readonly before?: unknown; readonly after?: unknown }) {
  const { mark, isInline, lines } = showChange({ field: 'x', path: 'x', ...change });
  return { mark, isInline, lines: lines.map(({ mark, text }) => `${mark} ${text}`) };
}

function sideOf(lines: readonly DiffLine[], mark: '+' | '-'): string[] {
  return lines.filter(line => line.mark === mark || line.mark === ' ').map(({ text }) => text);
}

test.each([
  [{ before: ['failed'], after: ['failed', 'error'] }, '~', ['- [failed]', '+ [failed, error]']],
  [{ before: [1], after: ['1'] }, '~', ['- [1]', '+ ["1"]']],
  [{ before: true, after: 'true' }, '~', ['- true', '+ "true"']],
  [{ after: { in: [null] } }, '+', ['+ { in: [null] }']],
  [{ before: { 'odd: name': [] } }, '-', ['- { "odd: name": [] }']],
  [{ before: '', after: 'a: b' }, '~', ['- ""', '+ "a: b"']],
  [{ before: 'Look.', after: 'Look again.' }, '~', ['- Look.', '+ Look again.']],
] as const)('short values are on one line each: %j', (change, mark, lines) => {
  expect(show(change)).toEqual({ mark, isInline: true, lines });
});

test('a text of several lines is a line diff with three lines around each change', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `Line ${index}.`);
  const before = `${lines.join('\n')}\n`;
  const after = before.replace('Line 10.', 'Line ten.').replace('Line 11.\n', '');
  expect(show({ before, after })).toEqual({
    mark: '~',
    isInline: false,
    lines: [
      '  … (7 unchanged lines)',
      '  Line 7.',
      '  Line 8.',
      '  Line 9.',
      '- Line 10.',
      '- Line 11.',
      '+ Line ten.',
      '  Line 12.',
      '  Line 13.',
      '  Line 14.',
      '  … (15 unchanged lines)',
    ],
  });
});

test('a long line is broken after its sentences, so that a change in one leaves the others', () => {
  const sentences = Array.from({ length: 8 }, (_, index) => `This is the sentence number ${index}. `);
  const before = sentences.join('');
  const after = before.replace('number 4', 'number four, of which there are many');
  const { lines } = show({ before, after });
  expect(lines.filter(line => !line.startsWith(' '))).toEqual([
    '-     This is the sentence number 4. ',
    '+     This is the sentence number four, of which there are many. ',
  ]);
});

test('a long list has a line for each value, and only those that differ are marked', () => {
  const values = Array.from({ length: 100 }, (_, index) => `value-${index}`);
  const { lines } = show({ before: values, after: values.with(50, 'other') });
  expect(lines.filter(line => !line.startsWith(' '))).toEqual(['- value-50', '+ other']);
});

test('a new trigger is shown as its file has it', () => {
  const filter = {
    webhook_ids: ['wh_0123456789abcdefghijklmn'],
    payload: { state: ['failed'], n: { not_in: [1] } },
  };
  expect(show({ after: [{ provider: 'webhook', event: 'received', filter }] })).toEqual({
    mark: '+',
    isInline: false,
    lines: [
      '+ - provider: webhook',
      '+   event: received',
      '+   filter:',
      '+     webhook_ids: [wh_0123456789abcdefghijklmn]',
      '+     payload: { state: [failed], n: { not_in: [1] } }',
    ],
  });
});

test.each([
  ['a space at the end', 'one\n', 'one \n', ['- one', '+ one\\u{20}']],
  ['an invisible character', ['failed'], ['failed\u200b'], ['- [failed]', '+ ["failed\\u{200b}"]']],
  ['another form of a letter', ['é'], ['e\u0301'], ['- ["\\u{e9}"]', '+ ["e\\u{301}"]']],
  ['another line end', 'a\nb\n', 'a\r\nb\n', ['- a', '+ a\\u{d}', '  b']],
  ['no line end', 'a\nb\n', 'a\nb', ['  a', '  b', '+ (no line break at the end)']],
])('two values that would look the same are told apart: %s', (_, before, after, lines) => {
  expect(show({ before, after }).lines).toEqual(lines);
});

const texts = fc.string({
  unit: fc.constantFrom('a', 'b c. ', '\n', 'x'.repeat(70), ' ', 'é'),
  maxLength: 40,
});

test('nothing is cut: both sides are there, and unequal values are never shown as equal', () => {
  fc.assert(
    fc.property(fc.tuple(texts, texts), ([before, after]) => {
      fc.pre(before !== after);
      const { lines } = showChange({ field: 'x', path: 'x', before, after });
      expect(sideOf(lines, '-')).not.toEqual(sideOf(lines, '+'));
    }),
  );
  const long = 'word '.repeat(2_000);
  const { lines } = showChange({ field: 'x', path: 'x', after: long });
  expect(lines.map(({ text }) => text.replace(/^ {4}/, '')).join('')).toBe(long);
});

test('texts without a line in common are shown one after the other, however long they are', () => {
  const text = (word: string) => Array.from({ length: 8_000 }, (_, index) => `${word}${index}`).join('\n');
  const { lines } = showChange({ field: 'x', path: 'x', before: text('a'), after: text('b') });
  expect(lines).toHaveLength(16_000);
});
