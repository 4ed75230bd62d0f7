import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8').replaceAll(/\s+/g, ' ');
const promises = (page.split(' ## What it promises ')[1]?.split(' ## ')[0] ?? '')
  .split(/ - (?=\*\*)/)
  .slice(1);

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
