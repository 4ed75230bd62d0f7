import { hourMs } from '../../schema/time-units.ts';
import type { Tally } from '../../store/ports/tallies.ts';
import type { UsualRates } from './usual-rates.ts';

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
export interface UnusualSilence {
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
