import {
  type DeliveryKind,
  deliveryKinds,
  findDeliveryKind,
  type Outcome,
  outcomes,
} from '../../schema/delivery.ts';
import { hourMs } from '../../schema/time-units.ts';

/** The deliveries of an outcome in each hour, from the first to the current one. */
export interface HourlyDeliveries {
  readonly outcome: Outcome;
  readonly hours: readonly number[];
}

/** The times that charts show: the last hours, and how many of them are one bar. */
export const spans = {
  day: { label: '24 hours', hours: 24, barHours: 1 },
  week: { label: '7 days', hours: 7 * 24, barHours: 6 },
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

/** What is usual of each bar, and what is not. */
export function toSparkBars(
  bars: readonly Pick<Bar, 'kinds'>[],
): { readonly usual: number; readonly bad: number }[] {
  return bars.map(({ kinds }) => ({ usual: kinds.accepted + kinds.duplicate, bad: kinds.rejected }));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
