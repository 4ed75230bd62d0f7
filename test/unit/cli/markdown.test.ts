import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeMarkdown, escapeMarkdownCode } from '../../../cli/render/markdown.ts';
import { anyText } from '../../support/any-text.ts';

const anything = fc.oneof(
  anyText(300),
  fc.string({ unit: fc.constantFrom(...'|\\`*_<>[]()!#@~-+.:/&;\n\r\t w'), maxLength: 60 }),
);

test('no character that begins markup, a mention, a link or a cell is left', () => {
  fc.assert(
    fc.property(anything, text => {
      const markdown = escapeMarkdown(text, 200);
      expect(markdown.replaceAll(/&#\d+;|<\/?code>/g, '')).toMatch(/^[\p{L}\p{N} ,;().'-]*$/u);
      expect(markdown).not.toMatch(/\.[^\s<]/);
    }),
  );
});

test('prints the text with control characters escaped, up to the bound', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 50 }), text => {
      expect(read(escapeMarkdown(text, 50).replaceAll(/<\/?code>/g, ''))).toBe(text);
    }),
  );
  expect(read(escapeMarkdown('a\nb', 50))).toBe(String.raw`<code>a\x0ab</code>`);
  expect(read(escapeMarkdown('x'.repeat(99), 10))).toBe(`${'x'.repeat(9)}…`);
  expect(read(escapeMarkdown('😀'.repeat(99), 3))).toBe('<code>😀😀…</code>');
});

// GitHub and GitLab look for references in what they have rendered, where a character reference is its character again.
// They pass over code.
test.each([
  ...[
    '@team',
    '@org/team',
    'a@team',
    '#1',
    'GH-1',
    'org/repository#1',
    'JIRA-123',
    '!1',
    '&1',
    '%1',
    '~label',
    '$1',
  ],
  ...['0123abc', '1234567', 'www.example.com', 'https://example.com', 'me@example.com', '[x](//example.com)'],
])('a mention or reference by a sender, %j, is code', reference => {
  for (const text of [reference, `(${reference})`, `payload has "${reference}", see ${reference}.`]) {
    const markdown = escapeMarkdown(text, 200);
    expect(read(markdown.replaceAll(/<\/?code>/g, ''))).toBe(text);
    expect(read(markdown.replaceAll(/<code>.*?<\/code>/g, ''))).not.toMatch(/[^ a-z,.]/);
  }
});

test('a sentence stays a sentence', () => {
  const sentence = "Of the last 12 deliveries, 1 would start a run (0 before): the sender's";
  expect(read(escapeMarkdown(sentence, 200))).toBe(sentence);
});

test('names stay legible to who reads the source', () => {
  expect(escapeMarkdownCode('deploys-eu', 50)).toBe('<code>deploys-eu</code>');
});

function read(markdown: string): string {
  return markdown.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
