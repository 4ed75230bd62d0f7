import {
  type DeliveryKind,
  deliveryKinds,
  findDeliveryKind,
  type Outcome,
  outcomes,
} from '../../schema/delivery.ts';
import { hourMs } from '../../schema/time-units.ts';

/** The deliveries of an outcome in each hour, from the first to the current one. */
interface HourlyDeliveries {
  readonly outcome: Outcome;
  readonly hours: readonly number[];
}

/** The times that charts show: the last hours, and how many of them are one bar. */
export const spans = {
  day: { label: '24 hours', hours: 24, barHours: 1 },
  week: { label: '7 days', hours: 7 * 24, barHours: 4 },
} as const;

export type Span = keyof typeof spans;

export interface Bar {
  readonly fromMs: number;
  readonly toMs: number;
  /** In the order of outcomes; those without any are left out. */
  readonly counts: readonly { readonly outcome: Outcome; readonly deliveries: number }[];
  readonly kinds: Readonly<Record<DeliveryKind, number>>;
}

/** Adds up the tallies, of one webhook or several, in bars of a span. `since` is when their first hour begins. */
export function toBars(since: string, tallies: readonly HourlyDeliveries[], span: Span): Bar[] {
  const { hours, barHours } = spans[span];
  const all = tallies[0]?.hours.length ?? hours;
  const firstHour = all - hours;
  return Array.from({ length: hours / barHours }, (_, index) => {
    const from = firstHour + index * barHours;
    const fromMs = Date.parse(since) + from * hourMs;
    const count = (outcome: Outcome) =>
      sum(tallies.map(each => (each.outcome === outcome ? sum(each.hours.slice(from, from + barHours)) : 0)));
    const counts = outcomes
      .map(outcome => ({ outcome, deliveries: count(outcome) }))
      .filter(({ deliveries }) => deliveries > 0);
    return { fromMs, toMs: fromMs + barHours * hourMs, counts, kinds: addUpKinds(counts) };
  });
}

function addUpKinds(counts: Bar['counts']): Bar['kinds'] {
  const kinds = { accepted: 0, duplicate: 0, rejected: 0 };
  for (const { outcome, deliveries } of counts) {
    const kind = findDeliveryKind(outcome);
    if (kind) kinds[kind] += deliveries;
  }
  return kinds;
}

/** `12 accepted, 3 rejected`, or `no deliveries`. */
function describeKinds(kinds: Bar['kinds']): string {
  const present = deliveryKinds.filter(kind => kinds[kind] > 0);
  return present.map(kind => `${kinds[kind]} ${kind}`).join(', ') || 'no deliveries';
}

/** The same of several bars. */
export function describeBars(bars: readonly Pick<Bar, 'kinds'>[]): string {
  const total = (kind: DeliveryKind) => sum(bars.map(({ kinds }) => kinds[kind]));
  return describeKinds({
    accepted: total('accepted'),
    duplicate: total('duplicate'),
    rejected: total('rejected'),
  });
}

export function countBar({ kinds }: Pick<Bar, 'kinds'>): number {
  return sum(Object.values(kinds));
}

/** Adds up, hour by hour, the deliveries of a kind in several tallies of seven days. */
export function sumHours(tallies: readonly HourlyDeliveries[], kind: DeliveryKind): number[] {
  const own = tallies.filter(({ outcome }) => findDeliveryKind(outcome) === kind);
  return addHours(own.map(({ hours }) => hours));
}

/** Adds up several lists of seven days, hour by hour. */
export function addHours(lists: readonly (readonly number[])[]): number[] {
  return Array.from({ length: spans.week.hours }, (_, hour) => sum(lists.map(hours => hours[hour] ?? 0)));
}

/** The sum of so many hours, which end so many hours before the last one of the list. */
export function sumLast(hours: readonly number[], count: number, before = 0): number {
  return sum(hours.slice(hours.length - before - count, hours.length - before));
}

/** What is usual of each bar, and what is not. */
export function toSparkBars(
  bars: readonly Pick<Bar, 'kinds'>[],
): { readonly usual: number; readonly bad: number }[] {
  return bars.map(({ kinds }) => ({ usual: kinds.accepted + kinds.duplicate, bad: kinds.rejected }));
}

/** Adds up the hours of a span in its bars. */
export function toBarCounts(hours: readonly number[], span: Span): number[] {
  const { hours: count, barHours } = spans[span];
  const last = hours.slice(-count);
  return Array.from({ length: count / barHours }, (_, bar) =>
    sum(last.slice(bar * barHours, (bar + 1) * barHours)),
  );
}

/** `+6 % on the day before`. */
export function compareDays(count: number, before: number): string {
  if (before === 0) return count === 0 ? 'none the day before either' : 'none the day before';
  const percent = Math.round((count / before - 1) * 100);
  return `${percent < 0 ? '−' : '+'}${Math.abs(percent).toLocaleString('en')} % on the day before`;
}

const roundSteps = [1, 2, 3, 4, 5, 6, 8, 10];

/** The axis of a chart: two round marks, at 40 % and 80 % of its height, above which is room for the highest bar. */
export function toAxis(highest: number): { readonly step: number; readonly top: number } {
  const needed = Math.max(1, highest / 2.5);
  const power = 10 ** Math.floor(Math.log10(needed));
  const step = power * (roundSteps.find(round => round * power >= needed) ?? 10);
  return { step, top: 2.5 * step };
}

export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
