import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { compilePayloadFilter } from '../../../../schema/filters/payload-filter-match.ts';
import { naivelyMatches } from './naive-match.ts';
import { pairs } from './payload-filter-arbitraries.ts';

const numRuns = inject('isLong') ? 100_000 : 5_000;

test('matches as a naive reading of the definition of payload filters does', () => {
  const verdicts = new Map<string, number>();
  fc.assert(
    fc.property(pairs, ([filter, payload]) => {
      const verdict = naivelyMatches(filter, payload);
      expect(compilePayloadFilter(filter)(payload)).toBe(verdict);
      for (const [operator] of JSON.stringify(filter).matchAll(/\$\w+(?=":[[{])/g)) {
        const key = `${operator}: ${verdict}`;
        verdicts.set(key, (verdicts.get(key) ?? 0) + 1);
      }
    }),
    { numRuns },
  );
  // Each operator was in filters that matched and in others that did not.
  for (const operator of ['$like', '$not_like', '$compare', '$none'])
    for (const verdict of [true, false])
      expect(verdicts.get(`${operator}: ${verdict}`)).toBeGreaterThan(numRuns / 200);
});
