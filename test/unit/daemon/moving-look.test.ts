import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MovingLook } from '../../../daemon/background-work.ts';

test('a bounded look reaches everything in finitely many passes, whatever stays in the list', () => {
  const list = fc.array(fc.boolean(), { maxLength: 60 });
  fc.assert(
    fc.property(list, fc.integer({ min: 1, max: 7 }), (stays, limit) => {
      let left = stays.map((isStaying, n) => ({ n, isStaying }));
      const seen = new Set<number>();
      const look = new MovingLook(limit);
      for (let pass = 0; pass <= 2 * stays.length + 2; pass++) {
        const found = left.slice(look.skip, look.skip + limit);
        for (const { n } of found) seen.add(n);
        left = left.filter(one => one.isStaying || !found.includes(one));
        look.moveOn(found.length, found.filter(({ isStaying }) => isStaying).length);
      }
      expect(seen.size).toBe(stays.length);
    }),
  );
});
