import type { AppliedWebhook } from '../schema/applied-state.ts';
import type { DeliveryLogReader } from '../store/delivery-log.ts';
import type { Factory } from './factory.ts';
import { type History, impactTrafficDays, type StoredDelivery } from './impact.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The history of a factory's deliveries, read from the delivery log when it is needed. */
export function openHistory({ name, store: { deliveries }, now }: Factory): History {
  const sinceMs = now().getTime() - impactTrafficDays * dayMs;
  return {
    countTraffic: async ({ uid }) => {
      const { lastAtMs, accepted } = await deliveries.countAccepted(uid, sinceMs);
      const lastAcceptedAt = lastAtMs === undefined ? null : new Date(lastAtMs).toISOString();
      return { lastAcceptedAt, accepted, days: impactTrafficDays };
    },
    readLastAccepted: (webhooks, limit) => readLastAccepted(deliveries, name, webhooks, limit),
  };
}

/** Keeps one payload in memory at a time, because 200 of the largest would need 50 MB. */
async function* readLastAccepted(
  log: DeliveryLogReader,
  factory: string,
  webhooks: readonly AppliedWebhook[],
  limit: number,
): AsyncGenerator<StoredDelivery> {
  const lists = webhooks.map(({ uid }) => log.listDeliveries({ factory, uid, outcome: 'Accepted', limit }));
  const newest = (await Promise.all(lists))
    .flat()
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, limit);
  for (const { id, webhook, uid } of newest) {
    const bytes = await log.readPayload(id);
    // The delivery was pruned meanwhile.
    if (!bytes) continue;
    yield { id, webhook, webhookUid: uid, payload: JSON.parse(Buffer.from(bytes).toString('utf8')) };
  }
}
