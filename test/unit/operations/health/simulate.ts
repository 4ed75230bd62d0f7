import { type Health, judgeHealth, weeksJudged } from '../../../../operations/health/judge-health.ts';
import type { Outcome } from '../../../../schema/delivery.ts';
import { tallyRows } from '../../../../store/delivery-log/tally-rows.ts';
import type { Tally } from '../../../../store/ports/tallies.ts';
import { dayMs, hourMs, minuteMs } from './rhythms.ts';

/** @limit Longest time between two looks, as the daemon has it. */
const lookAtLatestMs = dayMs;

/** The deliveries of a webhook, as a daemon judges them. */
export interface SimulatedWebhook {
  /** What is found at a time, with what was delivered until then. */
  judge(nowMs: number): Health;
  /** Looks whenever something is due, as a daemon does, and returns when it was found quiet, once for each silence. */
  findSilences(fromMs: number, untilMs: number): number[];
}

/** The times are in order. */
export function simulateWebhook(times: readonly number[], outcome: Outcome = 'Accepted'): SimulatedWebhook {
  const toTallies = (some: readonly number[]) =>
    tallyRows(some.map(atMs => ({ factory: 'f', uid: 'u', webhook: 'w', outcome, atMs })));
  const hours = toTallies(times);
  const judge = (nowMs: number) => {
    const hour = Math.floor(nowMs / hourMs);
    const since = hour - weeksJudged * 7 * 24;
    const whole = hours.slice(
      findFirst(hours, tally => tally.hour >= since),
      findFirst(hours, tally => tally.hour >= hour),
    );
    const begin = findFirst(times, atMs => atMs >= hour * hourMs);
    const current: readonly Tally[] = toTallies(
      times.slice(
        begin,
        findFirst(times, atMs => atMs > nowMs),
      ),
    );
    return judgeHealth({ tallies: [...whole, ...current], nowMs, listeningSinceMs: 0 });
  };
  const findSilences = (fromMs: number, untilMs: number) => {
    const found: number[] = [];
    let nowMs = fromMs;
    while (nowMs < untilMs) {
      const { state, dueMs } = judge(nowMs);
      if (state === 'quiet') {
        found.push(nowMs);
        nowMs = times[findFirst(times, atMs => atMs > nowMs)] ?? untilMs;
      } else nowMs = Math.max(nowMs + minuteMs / 12, Math.min(dueMs ?? Infinity, nowMs + lookAtLatestMs));
    }
    return found;
  };
  return { judge, findSilences };
}

/** The index of the first element with a property that all later ones have too. */
export function findFirst<T>(elements: readonly T[], has: (element: T) => boolean): number {
  let [low, high] = [0, elements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (has(elements[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
