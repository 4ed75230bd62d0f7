import { expect, test } from 'vitest';
import { hasRoom, inTurns, LooksInTurns } from '../../../schema/quota.ts';

const quota = { all: 10, share: 2, reserve: 1 };
const getFactory = (one: string) => one.slice(0, 1);

test('a factory may take all that is free, and leaves the others their share and the operator the reserve', () => {
  const taken: string[] = [];
  while (hasRoom(quota, taken, 'a')) taken.push('a');
  expect(taken).toHaveLength(10);
  for (const [factory, more] of [
    ['b', 2],
    ['c', 2],
    ['', 1],
  ] as const) {
    const before = taken.length;
    while (hasRoom(quota, taken, factory)) taken.push(factory);
    expect(taken.length - before).toBe(more);
  }
  expect(hasRoom(quota, taken, 'a')).toBe(false);
});

test('factories take turns, each in its own order', () => {
  expect(inTurns(['a1', 'a2', 'a3', 'b1', 'c1', 'c2'], getFactory)).toEqual([
    'a1',
    'b1',
    'c1',
    'a2',
    'c2',
    'a3',
  ]);
});

test('bounded looks reach everything, and each factory in each look', () => {
  const all = [...Array.from({ length: 25 }, (_, n) => `a${n}`), 'b0', 'b1'];
  const looks = new LooksInTurns(6);
  const seen = new Set<string>();
  for (let n = 0; n < 7; n++) {
    const found = looks.take(all, getFactory);
    expect(found).toHaveLength(6);
    expect(found.filter(one => one.startsWith('b')).length).toBeGreaterThan(0);
    for (const one of found) seen.add(one);
  }
  expect(seen.size).toBe(all.length);
  expect(looks.take(['b1'], getFactory)).toEqual(['b1']);
});
