import type { z } from 'zod';
import type { activityAnswer } from '../../../schema/api/answers.ts';
import { findDeliveryKind } from '../../../schema/delivery.ts';
import { hourMs } from '../../../schema/time-units.ts';
import type { DeliveryLogReader, HourlyCount } from '../../../store/delivery-log.ts';

/** @limit Age up to which the counts of the last 24 hours are shown again, in ms: counting reads every row of the day. */
const activityMs = 60_000;

type Activity = z.output<typeof activityAnswer>;
type Counting = Pick<DeliveryLogReader, 'countByHour'>;

const hours = 24;

/** Counts the last 24 hours of a factory's webhooks. */
export type ActivityCounter = (factory: string, uids: readonly string[], atMs: number) => Promise<Activity>;

/** Creates a counter that counts at most once a minute and shares the result. */
export function createActivityCounter(deliveries: Counting): ActivityCounter {
  const counted = new Map<
    string,
    { readonly atMs: number; readonly uids: string; activity: Promise<Activity> }
  >();
  return (factory, uids, atMs) => {
    const known = counted.get(factory);
    if (known && known.uids === uids.join() && atMs - known.atMs < activityMs) return known.activity;
    const activity = countActivity(deliveries, uids, atMs);
    counted.set(factory, { atMs, uids: uids.join(), activity });
    activity.catch(() => counted.delete(factory));
    return activity;
  };
}

async function countActivity(deliveries: Counting, uids: readonly string[], atMs: number): Promise<Activity> {
  const sinceMs = Math.floor(atMs / hourMs) * hourMs - (hours - 1) * hourMs;
  const webhooks = uids.map(async uid => {
    const { latest, counts } = await deliveries.countByHour(uid, sinceMs);
    const lastDelivery = latest
      ? { id: latest.id, at: new Date(latest.atMs).toISOString(), outcome: latest.outcome }
      : null;
    return { uid, lastDelivery, hours: groupByHour(counts) };
  });
  return { since: new Date(sinceMs).toISOString(), webhooks: await Promise.all(webhooks) };
}

function groupByHour(counts: readonly HourlyCount[]): Activity['webhooks'][number]['hours'] {
  const result = Array.from({ length: hours }, () => ({ accepted: 0, duplicate: 0, rejected: 0 }));
  for (const { hour, outcome, deliveries } of counts) {
    const bucket = result[hour];
    const kind = findDeliveryKind(outcome);
    if (bucket && kind) bucket[kind] += deliveries;
  }
  return result;
}
