import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CST, Parser, parseDocument } from 'yaml';
import { withAssignedType, withoutGenerators, yamlRewrites } from '../build/faster-yaml.ts';

const rewritten = await importRewritten();

async function importRewritten(): Promise<Pick<typeof import('yaml'), 'Parser' | 'parseDocument'>> {
  const directory = mkdtempSync(join(tmpdir(), 'yaml-'));
  cpSync('node_modules/yaml/browser', directory, { recursive: true });
  for (const [path, rewrite] of Object.entries(yamlRewrites)) {
    const file = join(directory, 'dist', path);
    writeFileSync(file, rewrite(readFileSync(file, 'utf8')));
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

const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map(parts => parts.join(''));

test('the rewritten parser finds the same tokens in any text', () => {
  fc.assert(
    fc.property(texts, text => {
      expect(parse(rewritten.Parser, text)).toEqual(parse(Parser, text));
    }),
    { numRuns: 2_000 },
  );
});

test('the rewritten nodes make the same document of any text', () => {
  const compose = (parse: typeof parseDocument, text: string) => {
    const { contents, errors } = parse(text, { uniqueKeys: false });
    return { json: JSON.stringify(contents), errors: errors.map(({ code, pos }) => ({ code, pos })) };
  };
  fc.assert(
    fc.property(texts, text => {
      expect(compose(rewritten.parseDocument, text)).toEqual(compose(parseDocument, text));
    }),
    { numRuns: 2_000 },
  );
});

test('refuses a node that does not define its type', () => {
  expect(() => withAssignedType('class Node {}')).toThrow('does not define its type');
});

test('refuses code that it would leave with a generator', () => {
  expect(() => withoutGenerators('class Lexer {\n  *lex() {\n  yield 1;\n  }\n}')).toThrow(
    'a generator is left',
  );
});
