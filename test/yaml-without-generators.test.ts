import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CST, Parser } from 'yaml';
import { withoutGenerators } from '../yaml-without-generators.ts';

const { Parser: Rewritten } = await importRewritten();

async function importRewritten(): Promise<{ readonly Parser: typeof Parser }> {
  const directory = mkdtempSync(join(tmpdir(), 'yaml-'));
  cpSync('node_modules/yaml/browser', directory, { recursive: true });
  for (const name of ['lexer.js', 'parser.js']) {
    const file = join(directory, 'dist/parse', name);
    writeFileSync(file, withoutGenerators(readFileSync(file, 'utf8')));
  }
  return import(pathToFileURL(join(directory, 'dist/index.js')).href);
}

function parse(Implementation: typeof Parser, text: string): { tokens: CST.Token[]; lines: number[] } {
  const lines: number[] = [];
  const tokens = [...new Implementation(offset => lines.push(offset)).parse(text)];
  return { tokens, lines };
}

const pieces = [
  ...[
    '\n',
    '\r\n',
    ' ',
    '  ',
    '\t',
    ': ',
    ':',
    '- ',
    '? ',
    '# note',
    ',',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
  ],
  ...[
    '|',
    '|+2\n',
    '>-\n',
    '&anchor ',
    '*anchor',
    '!!str ',
    '!<tag> ',
    '---\n',
    '...\n',
    '%YAML 1.2\n',
    '\ufeff',
  ],
  ...['key: value\n', 'a', '1', '~', '@', '`', '<<', '\n  - b\n', '\nc: [1, {d: e}]\n', 'é', '😀'],
];

test('the rewritten parser finds the same tokens in any text', () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map(parts => parts.join(''));
  fc.assert(
    fc.property(text, text => {
      expect(parse(Rewritten, text)).toEqual(parse(Parser, text));
    }),
    { numRuns: 2_000 },
  );
});

test('refuses code that it would leave with a generator', () => {
  expect(() => withoutGenerators('class Lexer {\n  *lex() {\n  yield 1;\n  }\n}')).toThrow(
    'a generator is left',
  );
});
