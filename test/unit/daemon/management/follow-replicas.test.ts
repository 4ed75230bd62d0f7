import { expect, onTestFinished, test, vi } from 'vitest';
import { followReplicas } from '../../../../daemon/management/follow-replicas.ts';

test('a store that does not answer is asked once, however long it takes', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const answer = Promise.withResolvers<[]>();
  const listDeliveries = vi.fn(() => answer.promise);
  const live = { listFactories: () => ['default'], publish: () => undefined };
  const following = followReplicas(live, { listDeliveries });
  vi.advanceTimersByTime(60_000);
  answer.resolve([]);
  await following.close();
  expect(listDeliveries).toHaveBeenCalledOnce();
});
