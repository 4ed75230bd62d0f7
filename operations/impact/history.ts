import { parseJsonText } from '../../json/parse-json-text.ts';
import { impactTrafficDays } from '../../schema/changes/describe-impact.ts';
import { dayMs } from '../../schema/time-units.ts';
import type { Factory } from '../factory.ts';
import type { History } from './impact.ts';

/** The history of a factory's deliveries, read from the delivery log when it is needed. */
export function openHistory({ name: factory, store: { deliveries }, now }: Factory): History {
  const sinceMs = now().getTime() - impactTrafficDays * dayMs;
  return {
    countTraffic: async ({ uid }) => {
      const { lastAtMs, accepted } = await deliveries.countAccepted(uid, sinceMs);
      const lastAcceptedAt = lastAtMs === undefined ? null : new Date(lastAtMs).toISOString();
      return { lastAcceptedAt, accepted, days: impactTrafficDays };
    },
    listLastAccepted: ({ uid }, limit) =>
      deliveries.listDeliveries({ factory, uid, outcome: 'Accepted', limit }),
    readPayload: async id => {
      const content = await deliveries.readContent(id);
      return content && { ...content, payload: parseJsonText(Buffer.from(content.payload).toString('utf8')) };
    },
  };
}
