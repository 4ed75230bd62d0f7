import { expect, onTestFinished, test, vi } from 'vitest';
import { lookRegularly } from '../../../store/look-regularly.ts';

test.each([
  ['a quick look is followed by the next one soon', 10, 2_000],
  ['a long one by a pause of fifty times as long', 100, 5_000],
  ['a very long one by a pause of 15 s', 5_000, 15_000],
])('%s', async (_, lookMs, pauseMs) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const startedMs: number[] = [];
  const end = lookRegularly(async () => {
    startedMs.push(performance.now());
    await new Promise(resolve => setTimeout(resolve, lookMs));
  }, 2_000);
  await vi.advanceTimersByTimeAsync(60_000);
  end();
  const [first = 0, second = 0] = startedMs;
  expect(second - first).toBe(lookMs + pauseMs);
  const { length } = startedMs;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(startedMs).toHaveLength(length);
});
