import type { DeliveryLogReader } from '../../store/delivery-log.ts';
import type { LiveDeliveries } from './live-deliveries.ts';

/** @limit Time between two looks for deliveries to other daemons while somebody watches, in ms: as often as a view is updated. */
const followMs = 500;
/** @limit Deliveries in one look for those to other daemons: more than a view shows at once. */
const followedMax = 50;

/**
 * Shows the deliveries to all daemons of a store in the live views of this one. It asks the store, and only while
 * somebody watches: telling every daemon of each commit would cost something all the time.
 */
export function followReplicas(
  live: Pick<LiveDeliveries, 'listFactories' | 'publish'>,
  deliveries: Pick<DeliveryLogReader, 'listDeliveries'>,
): { close(): Promise<void> } {
  const known = new Map<string, ReadonlySet<string>>();
  let looking: Promise<void> | undefined;
  const look = async () => {
    const factories = live.listFactories();
    for (const factory of known.keys()) if (!factories.includes(factory)) known.delete(factory);
    for (const factory of factories) {
      const newest = await deliveries.listDeliveries({ factory, limit: followedMax });
      const before = known.get(factory);
      known.set(factory, new Set(newest.map(({ id }) => id)));
      const added = before ? newest.filter(({ id }) => !before.has(id)) : [];
      if (added.length > 0) live.publish(() => added.toReversed());
    }
  };
  const timer = setInterval(() => {
    // While the store is out of reach, views show nothing new; `/readyz` says why.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
  }, followMs);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}
