import { findDeliveryKind, requestOutcomes } from '../../schema/delivery.ts';
import type { HealthState } from '../../schema/health.ts';
import { hourMs } from '../../schema/time-units.ts';
import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';
import { countRejected, type StoredHealth, type Tally } from '../../store/ports/tallies.ts';
import { findUnusualSilence, learnRates, weekHours } from './usual-deliveries.ts';

/** @limit Weeks of the past by which webhooks are judged: after a silence of three weeks, enough is left that shows what was usual. */
export const weeksJudged = 8;
/** @limit Weeks after the first delivery before silence is judged: each hour of the week was then seen twice. */
const weeksLearning = 2;
/** @limit Shortest silence that is called unusual, in ms: senders and networks restart. */
const silenceMs = 5 * 60_000;
/** @limit Rejections in a row below which no webhook is called failing: strangers try some. */
const rejectedMin = 5;
/**
 * A run of rejections is unusual if the usual share of them would give it this rarely: 20 in a row if half are usual.
 */
const runChance = 0.5 ** 20;

/** The past of one webhook. */
interface HealthHistory {
  /** Its last `weeksJudged` weeks, oldest first. */
  readonly tallies: readonly Tally[];
  readonly nowMs: number;
  /** The start of the time in which silence counts: before it, no daemon listened. */
  readonly listeningSinceMs: number;
  /** The health as it was judged before; absent if the webhook was never judged. */
  readonly known?: Pick<StoredHealth, 'state' | 'sinceMs' | 'fromMs'> | undefined;
}

export interface Health {
  readonly state: HealthState;
  /** One sentence. */
  readonly reason: string;
  /** The time since which it is quiet or failing; null in other states. */
  readonly sinceMs: number | null;
  /** The time at which it may become quiet without further deliveries; null if it cannot, or already is. */
  readonly dueMs: number | null;
}

/** Finds the first hour of the past by which webhooks are judged now. */
export function findFirstJudgedHour(nowMs: number): number {
  return Math.floor(nowMs / hourMs) - weeksJudged * weekHours;
}

/** Judges a webhook by its own past. Times are of the clock that stamps deliveries. Pure. */
export function judgeHealth(history: HealthHistory): Health {
  const { tallies } = history;
  return judgeRejections(tallies) ?? judgeSilence(history);
}

function judgeRejections(tallies: readonly Tally[]): Health | undefined {
  const lastGood = tallies.findLastIndex(({ lastGoodMs }) => lastGoodMs !== null);
  const since = tallies.slice(Math.max(0, lastGood));
  const inRow = since.reduce((sum, { rejectedInRow }) => sum + rejectedInRow, 0);
  const total = (of: (tally: Tally) => number) => tallies.reduce((sum, tally) => sum + of(tally), 0);
  const good = total(({ accepted, duplicates }) => accepted + duplicates);
  const earlier = total(countRejected) - inRow;
  const usualShare = (earlier + 0.5) / (earlier + good + 1);
  if (inRow < rejectedMin || usualShare ** inRow > runChance) return undefined;
  const lastGoodMs = tallies[lastGood]?.lastGoodMs ?? null;
  const first = since.find(({ rejectedInRow }) => rejectedInRow > 0);
  const sinceMs = lastGoodMs ?? (first?.hour ?? 0) * hourMs;
  const usual = good + earlier === 0 ? 'none was ever accepted' : `usually ${showShare(earlier, good)} are`;
  const reason = `the last ${inRow} deliveries were rejected, most of them by ${findCause(since)}; ${usual}`;
  return { state: 'failing', reason, sinceMs, dueMs: null };
}

function showShare(rejected: number, good: number): string {
  const percent = (100 * rejected) / (rejected + good);
  return percent === 0 ? 'none' : percent < 1 ? 'less than 1 %' : `${Math.round(percent)} %`;
}

/** Finds the check at which most of the rejected deliveries failed. */
function findCause(tallies: readonly Tally[]): string {
  const causes = [
    ['authentication', ({ rejectedAuth }: Tally) => rejectedAuth],
    ['invalid JSON', ({ rejectedJson }: Tally) => rejectedJson],
    ['their size', ({ rejectedLarge }: Tally) => rejectedLarge],
  ] as const;
  const sums = causes.map(([cause, count]) => ({
    cause,
    sum: tallies.reduce((sum, of) => sum + count(of), 0),
  }));
  return sums.reduce((most, next) => (next.sum > most.sum ? next : most)).cause;
}

function judgeSilence({ tallies, nowMs, listeningSinceMs, known }: HealthHistory): Health {
  const first = tallies.find(({ firstGoodMs }) => firstGoodMs !== null);
  const lastMs = tallies.findLast(({ lastGoodMs }) => lastGoodMs !== null)?.lastGoodMs ?? 0;
  // The usual rates are forgotten after some weeks, so silence ends only with a delivery.
  if (known?.state === 'quiet' && known.sinceMs !== null && lastMs <= known.sinceMs)
    return quiet(known.sinceMs, nowMs, undefined);
  if (!first) {
    if (known && known.state !== 'never seen') return healthy('too few deliveries come', null);
    return { state: 'never seen', reason: 'no delivery was ever accepted', sinceMs: null, dueMs: null };
  }
  const learnedMs = (first.hour + weeksLearning * weekHours) * hourMs;
  if (nowMs < learnedMs)
    return healthy('deliveries come; what silence is unusual is known after two weeks', learnedMs);
  // The hour of the last delivery may not be over, and those after it show nothing usual.
  const rates = learnRates(tallies, first.hour, Math.floor(lastMs / hourMs));
  const unusual = findUnusualSilence(tallies, rates);
  const countsFromMs = Math.max(lastMs, listeningSinceMs, known?.fromMs ?? 0);
  const missingMs = unusual && rates.findTime(countsFromMs, unusual.deliveries);
  if (!unusual || !missingMs) return healthy('too few deliveries come to say what silence is unusual', null);
  const dueMs = Math.max(missingMs, countsFromMs + silenceMs);
  if (nowMs < dueMs) return healthy('deliveries come as usual', dueMs);
  const usualToMs = rates.findTime(countsFromMs, unusual.longest) ?? dueMs;
  return quiet(lastMs, nowMs, usualToMs - countsFromMs);
}

function quiet(sinceMs: number, nowMs: number, usualMs: number | undefined): Health {
  const usual = usualMs === undefined ? '' : `; ${showSpan(usualMs)} are usual at most at this time`;
  const reason = `no delivery for ${showSpan(nowMs - sinceMs)}${usual}`;
  return { state: 'quiet', reason, sinceMs, dueMs: null };
}

function healthy(reason: string, dueMs: number | null): Health {
  return { state: 'healthy', reason, sinceMs: null, dueMs };
}

/** A time of minutes or more in words, such as `6 hours`. */
function showSpan(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

/** Describes how long something takes or took: `12 s`, then as `showSpan`. */
export function describeTime(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  return seconds < 120 ? `${seconds} s` : showSpan(ms);
}

const rejections = requestOutcomes.filter(outcome => findDeliveryKind(outcome) === 'rejected');

/**
 * Judges a webhook by its past. A failing one fails since the first delivery that was rejected after the last good one,
 * which tallies do not tell: it is looked up in the log, unless it is known from before.
 */
export async function judgeWebhookHealth(
  deliveries: Pick<DeliveryLogReader, 'searchDeliveries'>,
  webhook: { readonly factory: string; readonly uid: string },
  history: HealthHistory,
): Promise<Health> {
  const health = judgeHealth(history);
  const { known } = history;
  const { state, sinceMs } = health;
  if (state !== 'failing' || sinceMs === null) return health;
  if (known?.state === 'failing' && known.sinceMs !== null && known.sinceMs > sinceMs)
    return { ...health, sinceMs: known.sinceMs };
  const { factory, uid } = webhook;
  const asked = { factory, uid, outcome: rejections, sinceMs, after: '', limit: 1 };
  const [first] = (await deliveries.searchDeliveries(asked)).rows;
  return { ...health, sinceMs: first?.atMs ?? sinceMs };
}
