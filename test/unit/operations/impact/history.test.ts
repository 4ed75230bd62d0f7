import { expect, test } from 'vitest';
import { createWebhookObservers } from '../../../../operations/impact/history.ts';
import type { AppliedWebhook } from '../../../../schema/applied-state.ts';

test('a webhook with large payloads leaves the others their share, and gets what they did not need', () => {
  const large = { items: Array.from({ length: 100_000 }, (_, index) => index) };
  const webhook = (uid: string) => ({ uid }) as AppliedWebhook;
  const { observe, observations } = createWebhookObservers(3);
  for (const [uid, payload] of [
    ['small', { a: 1 }],
    ['large', large],
    ['last', large],
  ] as const) {
    for (let count = 0; count < 30; count++) observe(webhook(uid), payload);
  }
  const [small, middle, last] = ['small', 'large', 'last'].map(uid => observations(uid)?.deliveries ?? 0);
  expect(small).toBe(30);
  // 1,000,000 visits: half of what is left, then the rest.
  expect(middle).toBe(5);
  expect(last).toBe(5);
});
