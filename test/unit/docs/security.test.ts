import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseNamedTest } from '../../long/mutants/mutant.ts';
import { mutants } from '../../long/mutants/mutants.ts';

const root = join(import.meta.dirname, '../../..');
const readPage = (name: string) => readFileSync(join(root, name), 'utf8').replaceAll(/\s+/g, ' ');
const page = readPage('SECURITY.md');
const listPromises = (page: string, bullet: RegExp) =>
  (page.split(' ## What it promises ')[1]?.split(' ## ')[0] ?? '').split(bullet).slice(1);
const promises = listPromises(page, / - (?=\*\*)/);

/** The tests that a promise names: `[file](path): `, then titles in backticks. */
function namedTests(promise: string): { readonly file: string; readonly title: string }[] {
  const groups = promise.matchAll(/\]\((test\/[^)]+)\):((?:,? `[^`]+`)+)/g);
  return [...groups].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/`([^`]+)`/g)].map(([, title = '']) => ({ file, title })),
  );
}

test('SECURITY.md makes promises', () => {
  expect(promises.length).toBeGreaterThan(10);
});

test.for(promises)('tests hold the promise: %s', promise => {
  const named = namedTests(promise);
  expect(named).not.toEqual([]);
  expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
  // One of them fails if the promise is broken, as `npm run mutants` shows.
  const planted = mutants.filter(mutant => promise.startsWith(`**${mutant.promise}**`));
  expect(planted).not.toEqual([]);
  for (const { killedBy } of planted) expect(named).toContainEqual(parseNamedTest(killedBy));
});

test.for(listPromises(readPage('README.md'), / (?:- )+(?=A )/))('a fault is planted for: %s', promise => {
  expect(mutants.filter(mutant => promise.startsWith(mutant.promise))).not.toEqual([]);
});

test.for(mutants)('a fault can be planted in $file, and a test finds it: $killedBy', mutant => {
  const { file, title } = parseNamedTest(mutant.killedBy);
  expect(hasTest(file, title)).toBe(true);
  const parts = readFileSync(join(root, mutant.file), 'utf8').split(mutant.text);
  expect(parts, 'the text is no longer there once').toHaveLength(2);
});

const chapters = page.matchAll(/\| (V\d+ [^|]+?) \| (met|partly|not|not applicable) \|(.+?)\|(?= \| V| *$)/g);

test.for([...chapters].map(([, name = '', answer = '', rest = '']) => [name, answer, rest] as const))(
  'tests show how the chapter of ASVS is answered: %s',
  ([, answer, rest]) => {
    const named = namedTests(rest);
    if (answer !== 'not applicable') expect(named).not.toEqual([]);
    expect(named.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
  },
);

function hasTest(file: string, title: string): boolean {
  const path = join(root, file);
  const source = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return ["'", '"', '`'].some(quote => source.includes(`${quote}${title}${quote},`));
}
