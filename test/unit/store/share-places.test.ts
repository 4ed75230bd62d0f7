import { expect, test } from 'vitest';
import { sharePlaces } from '../../../store/delivery-log/share-places.ts';

const runner = 'default';
const head = (factory: string, atMs: number) => ({ runner, factory, atMs });

test('each place goes to the factory with the fewest runs, and of several to the one that waits longest', () => {
  const heads = [head('new', 9), head('old', 1), head('busy', 0)];
  const running = ['busy', 'busy'];
  const share = (places: number) =>
    sharePlaces(heads, running, places).map(({ factory, count }) => `${factory} ${count}`);
  expect(share(1)).toEqual(['old 1']);
  expect(share(3)).toEqual(['old 2', 'new 1']);
  expect(share(5)).toEqual(['busy 1', 'old 2', 'new 2']);
  expect(sharePlaces([], running, 3)).toEqual([]);
});
