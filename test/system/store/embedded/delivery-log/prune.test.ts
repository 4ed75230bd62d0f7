import { expect, test } from 'vitest';
import { deliveriesPerPruneStepMax } from '../../../../../store/embedded/delivery-log/sql/prune.ts';
import { acceptedDelivery, sampleAtMs } from '../../../../support/deliveries.ts';
import { openLog } from './delivery-log-samples.ts';

const keepSinceMs = sampleAtMs;
const old = (ageMs: number) => ({ atMs: keepSinceMs - ageMs });

test('lets deliveries commit between its steps', async () => {
  const log = await openLog();
  const count = deliveriesPerPruneStepMax * 3;
  await Promise.all(Array.from({ length: count }, () => log.recordAccepted(acceptedDelivery(old(1)))));
  const { commits } = log.stats();
  const order: string[] = [];
  const pruned = log.prune({ keepNewest: 1, keepSinceMs }).then(({ deliveries }) => {
    order.push(`pruned ${deliveries}`);
  });
  await log.recordAccepted(acceptedDelivery()).then(() => order.push('recorded'));
  expect(log.stats().commits).toBe(commits + 2);
  await pruned;
  expect(order).toEqual(['recorded', `pruned ${count}`]);
});
