import { hourMs } from '../../schema/time-units.ts';
import type { Tally } from '../../store/ports/tallies.ts';

/** The hours of a week, in UTC. Hour 0 begins on a Thursday, as 1970 did. */
export const weekHours = 7 * 24;

/** Events that an estimate of a rate begins with, if they come one by one: Jeffreys' prior of a Poisson rate. */
const priorEvents = 0.5;

/** Counts the good deliveries that are usual at each time of the week. */
interface UsualRates {
  /** The number that usually comes between two times. */
  expect(fromMs: number, toMs: number): number;
  /**
   * The time by which a number of deliveries usually comes after another time; undefined if that takes over eight
   * weeks.
   */
  findTime(fromMs: number, expected: number): number | undefined;
}

/**
 * Learns the usual rates from whole hours: of each hour of the week, as far as deliveries show that it differs from the
 * same hour of other days, and that from the mean. The busiest week of each hour is left out, because one burst is not
 * a rhythm. Deliveries that come in bursts show as much as the bursts do.
 */
export function learnRates(tallies: readonly Tally[], fromHour: number, toHour: number): UsualRates {
  const counts = new Map(tallies.map(({ hour, accepted, duplicates }) => [hour, accepted + duplicates]));
  const byWeekHour = Array.from({ length: weekHours }, () => [] as number[]);
  for (let hour = fromHour; hour < toHour; hour++) byWeekHour[hour % weekHours]?.push(counts.get(hour) ?? 0);
  const prior = priorEvents * measureDispersion(byWeekHour);
  const mean = estimate(byWeekHour.flat(), prior);
  const byDayHour = Array.from({ length: 24 }, (_, of) =>
    estimate(byWeekHour.filter((_, hour) => hour % 24 === of).flat(), prior, mean),
  );
  const rates = byWeekHour.map((weeks, hour) =>
    estimate(leaveOutBusiest(weeks), prior, byDayHour[hour % 24]),
  );
  return sumUp(rates);
}

function leaveOutBusiest(weeks: readonly number[]): readonly number[] {
  return weeks.length < 3 ? weeks : weeks.toSorted((a, b) => a - b).slice(0, -1);
}

/**
 * The factor by which counts of the same hour differ more than counts of single events (the Pearson statistic), at least
 * 1.
 */
function measureDispersion(byWeekHour: readonly (readonly number[])[]): number {
  let [squares, freedom] = [0, 0];
  for (const weeks of byWeekHour) {
    const mean = weeks.reduce((total, count) => total + count, 0) / weeks.length;
    if (!(mean > 0)) continue;
    squares += weeks.reduce((total, count) => total + (count - mean) ** 2, 0) / mean;
    freedom += weeks.length - 1;
  }
  return freedom === 0 ? 1 : Math.max(1, squares / freedom);
}

/** The mean of some hours, drawn to an expected one as if so many events of that one had been seen before. */
function estimate(hours: readonly number[], prior: number, expected = Number.POSITIVE_INFINITY): number {
  const sum = hours.reduce((total, count) => total + count, 0);
  return (sum + prior) / (hours.length + prior / expected);
}

/** @limit Weeks ahead in which the end of a usual silence is looked for: a webhook is judged again after them anyway. */
const weeksAheadMax = 8;

function sumUp(rates: readonly number[]): UsualRates {
  const before = [0];
  for (const rate of rates) before.push((before.at(-1) ?? 0) + rate);
  const perWeek = before[weekHours] ?? 0;
  const sumAt = (ms: number) => {
    const hours = ms / hourMs;
    const weeks = Math.floor(hours / weekHours);
    const within = hours - weeks * weekHours;
    const hour = Math.floor(within);
    return weeks * perWeek + (before[hour] ?? 0) + (within - hour) * (rates[hour] ?? 0);
  };
  return {
    expect: (fromMs, toMs) => sumAt(toMs) - sumAt(fromMs),
    findTime: (fromMs, expected) => {
      const wanted = sumAt(fromMs) + expected;
      let low = fromMs;
      let high = fromMs + weeksAheadMax * weekHours * hourMs;
      if (sumAt(high) < wanted) return undefined;
      while (high - low > 1_000) {
        const middle = (low + high) / 2;
        if (sumAt(middle) < wanted) low = middle;
        else high = middle;
      }
      return Math.ceil(high);
    },
  };
}

/**
 * Silences that are called unusual although nothing is wrong, for each webhook and as much time as it was observed: one
 * in a thousand.
 */
const falseAlarmChance = 1 / 1_000;
/** @limit Gaps between deliveries that must be known before silence is judged: fewer do not show what is usual. */
const gapsMin = 4;
/** @limit Gaps from which on silence is unusual after three usual ones at the latest: with fewer, the next one may well be longer. */
const gapsForThree = 30;
/** A single gap that is so many times as long as all others was an outage, and not usual. */
const outageRatio = 3;

/** Both are measured in deliveries that usually come meanwhile. */
interface UnusualSilence {
  /** The longest gap that is usual. */
  readonly longest: number;
  /** The number that is missing when silence becomes unusual. */
  readonly deliveries: number;
}

/**
 * Finds the number of deliveries, by the usual rates, that must be missing until silence is unusual; undefined if too
 * little is known. The rates stretch the gaps, so that a night of an office counts as little as its deliveries are.
 *
 * The longest gaps show what follows: beyond some of them, gaps are taken to get rarer exponentially, and how fast is
 * estimated from these few, with the doubt that this leaves (the predictive distribution is a Lomax one). Silence is
 * never unusual before twice the longest usual gap.
 */
export function findUnusualSilence(tallies: readonly Tally[], rates: UsualRates): UnusualSilence | undefined {
  const good = tallies.filter(({ firstGoodMs }) => firstGoodMs !== null);
  const deliveries = good.reduce((sum, { accepted, duplicates }) => sum + accepted + duplicates, 0);
  const gaps = withoutOutage(measureGaps(good, rates));
  const count = deliveries - 1;
  if (count < gapsMin || gaps.length < gapsMin) return undefined;
  const [longest = 0] = gaps;
  const excesses = Math.min(Math.max(gapsMin - 1, Math.floor(Math.sqrt(count))), gaps.length - 1);
  const beyond = gaps[excesses] ?? 0;
  const excess = gaps.slice(0, excesses).reduce((sum, gap) => sum + gap - beyond, 0);
  const predicted = beyond + excess * ((excesses / falseAlarmChance) ** (1 / excesses) - 1);
  const atMost = count < gapsForThree ? Number.POSITIVE_INFINITY : 3 * longest;
  return { longest, deliveries: Math.max(2 * longest, Math.min(predicted, atMost)) };
}

/** The gaps between hours, and the longest within each, in deliveries that are usual meanwhile; longest first. */
function measureGaps(good: readonly Tally[], rates: UsualRates): number[] {
  const gaps: number[] = [];
  let lastMs: number | null = null;
  for (const { hour, firstGoodMs, lastGoodMs, longestGapMs } of good) {
    if (lastMs !== null && firstGoodMs !== null) gaps.push(rates.expect(lastMs, firstGoodMs));
    const startMs = hour * hourMs;
    if (longestGapMs > 0) gaps.push((rates.expect(startMs, startMs + hourMs) * longestGapMs) / hourMs);
    lastMs = lastGoodMs;
  }
  return gaps.sort((a, b) => b - a);
}

function withoutOutage(gaps: number[]): number[] {
  const [first = 0, second = 0] = gaps;
  return first > outageRatio * second ? gaps.slice(1) : gaps;
}
