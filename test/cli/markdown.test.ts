import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeMarkdown, escapeMarkdownCode } from '../../cli/render/markdown.ts';
import { anyText } from '../support/any-text.ts';

const anything = fc.oneof(
  anyText(300),
  fc.string({ unit: fc.constantFrom(...'|\\`*_<>[]()!#@~-+.:/&;\n\r\t w'), maxLength: 60 }),
);

test('no character that begins markup, a mention, a link or a cell is left', () => {
  fc.assert(
    fc.property(anything, text => {
      const markdown = escapeMarkdown(text, 200);
      expect(markdown.replaceAll(/&#\d+;/g, '')).toMatch(/^[\p{L}\p{N} ,;().'-]*$/u);
      expect(markdown).not.toMatch(/\.\S/);
    }),
  );
});

test('prints the text with control characters escaped, up to the bound', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 50 }), text => {
      expect(read(escapeMarkdown(text, 50))).toBe(text);
    }),
  );
  expect(read(escapeMarkdown('a\nb', 50))).toBe(String.raw`a\x0ab`);
  expect(read(escapeMarkdown('x'.repeat(99), 10))).toBe(`${'x'.repeat(9)}…`);
  expect(read(escapeMarkdown('😀'.repeat(99), 3))).toBe('😀😀…');
});

test('names stay legible to who reads the source', () => {
  expect(escapeMarkdownCode('deploys-eu', 50)).toBe('<code>deploys-eu</code>');
});

function read(markdown: string): string {
  return markdown.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
}
