import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseNamedTest } from '../../long/mutants/mutant.ts';
import { mutants } from '../../long/mutants/mutants.ts';

const root = join(import.meta.dirname, '../../..');
const readPage = (name: string) => readFileSync(join(root, name), 'utf8');
const listPromises = (page: string) => page.split('\n## What it promises\n')[1]?.split('\n## ')[0] ?? '';
const page = readPage('SECURITY.md');
const rows = [...listPromises(page).matchAll(/^\| (\*\*.+?) \| (.+) \|$/gm)];

/** The test files to which a cell of a table links. */
function linkedFiles(cell: string): string[] {
  return [...cell.matchAll(/\]\((test\/[^)]+)\)/g)].map(([, file = '']) => file);
}

test('SECURITY.md makes promises', () => {
  expect(rows.length).toBeGreaterThan(10);
});

test.for(rows)('tests hold the promise: %s', ([, promise = '', cell = '']) => {
  const files = linkedFiles(cell);
  expect(files.filter(file => !existsSync(join(root, file)))).toEqual([]);
  // One of them fails if the promise is broken, as `npm run mutants` shows.
  const planted = mutants.filter(mutant => promise.startsWith(`**${mutant.promise}**`));
  expect(planted).not.toEqual([]);
  for (const { killedBy } of planted) expect(files).toContain(parseNamedTest(killedBy).file);
});

const readmePromises = listPromises(readPage('README.md'))
  .replaceAll(/\s+/g, ' ')
  .split(/ (?:- )+(?=A )/);

test.for(readmePromises.slice(1))('a fault is planted for: %s', promise => {
  expect(mutants.filter(mutant => promise.startsWith(mutant.promise))).not.toEqual([]);
});

test.for(mutants)('a fault can be planted in $file, and a test finds it: $killedBy', mutant => {
  const { file, title } = parseNamedTest(mutant.killedBy);
  expect(hasTest(file, title)).toBe(true);
  const parts = readFileSync(join(root, mutant.file), 'utf8').split(mutant.text);
  expect(parts, 'the text is no longer there once').toHaveLength(2);
});

const chapters = page.matchAll(/^\| (V\d+ [^|]+?) \| (met|partly|not|not applicable) \|(.+)\|$/gm);

test.for([...chapters].map(([, name = '', answer = '', rest = '']) => [name, answer, rest] as const))(
  'tests show how the chapter of ASVS is answered: %s',
  ([, answer, rest]) => {
    const files = linkedFiles(rest);
    if (answer !== 'not applicable') expect(files).not.toEqual([]);
    expect(files.filter(file => !existsSync(join(root, file)))).toEqual([]);
  },
);

function hasTest(file: string, title: string): boolean {
  const path = join(root, file);
  const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return ["'", '"', '`'].some(quote => source.includes(`${quote}${title}${quote},`));
}
