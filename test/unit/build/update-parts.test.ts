import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { updateParts } from '../../../build/update-parts.ts';

let path: (name: string) => string;
let built: string[];

beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'parts-'));
  path = name => join(directory, name);
  built = [];
  writeFileSync(path('a.in'), 'one');
  writeFileSync(path('b.in'), 'one');
});

const makePart = (name: string) => ({
  sources: [path(`${name}.in`)],
  output: [path(`${name}.out*`)],
  build: async () => {
    built.push(name);
    writeFileSync(path(`${name}.out`), readFileSync(path(`${name}.in`)));
    const nested = ['node_modules/koa/node_modules/type-is/index.js', 'node_modules/@preact/signals/a.js'];
    return ['cli/main.ts', 'node_modules/koa/lib/a.js', 'node_modules/koa/lib/b.js', ...nested];
  },
});
const update = () => updateParts({ a: makePart('a'), b: makePart('b') }, path('record.json'));

test('builds each part, and nothing when both are fresh', async () => {
  await update();
  expect(built).toEqual(['a', 'b']);
  await update();
  expect(built).toEqual(['a', 'b']);
});

test.for<[string, () => void]>([
  ['a source changed', () => writeFileSync(path('b.in'), 'two')],
  ['a file of its output changed', () => writeFileSync(path('b.out'), 'on')],
  ['a file of its output is missing', () => rmSync(path('b.out'))],
  ['there is a file that it did not write', () => writeFileSync(path('b.outer'), '')],
])('builds only the part that is stale: %s', async ([, change]) => {
  await update();
  change();
  await update();
  expect(built).toEqual(['a', 'b', 'b']);
});

test('builds again what failed before it was complete', async () => {
  await update();
  writeFileSync(path('b.in'), 'two');
  const halfWritten = async () => {
    writeFileSync(path('b.out'), 't');
    throw new Error('interrupted');
  };
  const parts = { a: makePart('a'), b: { ...makePart('b'), build: halfWritten } };
  await expect(updateParts(parts, path('record.json'))).rejects.toThrow('interrupted');
  await update();
  expect(readFileSync(path('b.out'), 'utf8')).toBe('two');
});

test('records the packages whose code is in a part', async () => {
  await update();
  expect(JSON.parse(readFileSync(path('record.json'), 'utf8')).a.packages).toEqual([
    'node_modules/@preact/signals',
    'node_modules/koa',
    'node_modules/koa/node_modules/type-is',
  ]);
});
