import { expect, test } from 'vitest';
import { runInSlices } from '../../../../daemon/served/served-webhooks.ts';
import { compileFilterSteps } from '../../../../schema/filters/filter-index.ts';

test('lets other work through while it runs steps, and returns their result', async () => {
  let others = 0;
  const interval = setInterval(() => others++, 0);
  // Without other work in between, it would end as well.
  function* count(): Generator<undefined, number> {
    for (let step = 0; step < 10_000_000 && others < 3; step++) yield;
    return others;
  }
  expect(await runInSlices(count())).toBe(3);
  clearInterval(interval);
});

test('filters that are compiled in slices match as each of them says', async () => {
  const filters = Array.from({ length: 500 }, (_, index) => ({
    name: `a${index}`,
    filter: { action: [index % 7], size: { not_in: [index] } },
  }));
  const match = await runInSlices(compileFilterSteps(filters));
  for (const [payload, action, size] of [
    [{ action: 3 }, 3],
    [{ action: 3, size: 10 }, 3, 10],
    [{ size: 1 }, undefined, 1],
    [[]],
  ] as const) {
    const expected = [...filters.keys()].filter(index => index % 7 === action && index !== size);
    expect(match(payload).toSorted()).toEqual(expected.map(index => `a${index}`).toSorted());
  }
  expect(match({ action: 3, size: 10 })).toHaveLength(70);
});
