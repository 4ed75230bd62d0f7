import { expect, test } from 'vitest';
import { runInSlices } from '../../../daemon/served/in-slices.ts';
import { compileFilterIndex, compileFilterSteps } from '../../../schema/filters/filter-index.ts';

test('lets other work through while it runs steps, and returns their result', async () => {
  let others = 0;
  const interval = setInterval(() => others++, 0);
  function* count(): Generator<undefined, number> {
    for (let done = 0; ; done++) {
      if (others >= 3) return done;
      yield;
    }
  }
  expect(await runInSlices(count())).toBeGreaterThan(0);
  clearInterval(interval);
});

test('filters that are compiled in slices match what they match when compiled at once', async () => {
  const filters = Array.from({ length: 500 }, (_, index) => ({
    name: `a${index}`,
    filter: { action: [index % 7], size: { not_in: [index] } },
  }));
  const [sliced, whole] = [await runInSlices(compileFilterSteps(filters)), compileFilterIndex(filters)];
  for (const payload of [{ action: 3 }, { action: 3, size: 10 }, { size: 1 }, []]) {
    expect(sliced(payload)).toEqual(whole(payload));
  }
  expect(sliced({ action: 3, size: 10 })).toHaveLength(70);
});
