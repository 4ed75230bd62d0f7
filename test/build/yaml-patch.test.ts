import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CST, Parser, parseDocument } from 'yaml';

const patched = await importPatched();

async function importPatched(): Promise<Pick<typeof import('yaml'), 'Parser' | 'parseDocument'>> {
  const directory = mkdtempSync(join(tmpdir(), 'yaml-'));
  const browser = 'node_modules/yaml/browser';
  cpSync(browser, join(directory, browser), { recursive: true });
  execFileSync('git', ['apply', join(process.cwd(), 'build/patches/yaml.patch')], { cwd: directory });
  return import(pathToFileURL(join(directory, browser, 'dist/index.js')).href);
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

test('the patched parser finds the same tokens in any text', () => {
  fc.assert(
    fc.property(texts, text => {
      expect(parse(patched.Parser, text)).toEqual(parse(Parser, text));
    }),
    { numRuns: 2_000 },
  );
});

test('the patched nodes make the same document of any text', () => {
  const compose = (parse: typeof parseDocument, text: string) => {
    const { contents, errors } = parse(text, { uniqueKeys: false });
    return { json: JSON.stringify(contents), errors: errors.map(({ code, pos }) => ({ code, pos })) };
  };
  fc.assert(
    fc.property(texts, text => {
      expect(compose(patched.parseDocument, text)).toEqual(compose(parseDocument, text));
    }),
    { numRuns: 2_000 },
  );
});
