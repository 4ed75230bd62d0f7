import type { DeliveryLogReader } from '../../store/ports/delivery-log.ts';
import type { LiveDeliveries } from './live-deliveries.ts';

/** @limit Time between two looks for deliveries to other daemons while somebody watches, in ms: as often as a view is updated. */
const followMs = 500;
/** @limit Deliveries in one look for those to other daemons: more than a view shows at once. */
const followedMax = 50;

export interface FollowedReplicas {
  /** Notes what a factory has before somebody watches it: a view shows everything that comes later. */
  beginAt(factory: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Shows the deliveries to all daemons of a store in the live views of this one. It asks the store, and only while
 * somebody watches: telling every daemon of each commit would cost something all the time.
 */
export function followReplicas(
  live: Pick<LiveDeliveries, 'listFactories' | 'publish'>,
  deliveries: Pick<DeliveryLogReader, 'listDeliveries'>,
): FollowedReplicas {
  /** The newest deliveries of each factory that somebody has watched, as of the last look. */
  const known = new Map<string, ReadonlySet<string>>();
  let looking: Promise<void> | undefined;
  const lookAt = async (factory: string) => {
    const newest = await deliveries.listDeliveries({ factory, limit: followedMax });
    const before = known.get(factory);
    known.set(factory, new Set(newest.map(({ id }) => id)));
    return before ? newest.filter(({ id }) => !before.has(id)).toReversed() : [];
  };
  const look = async () => {
    for (const factory of live.listFactories()) {
      const added = await lookAt(factory);
      if (added.length > 0) live.publish(() => added);
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
    beginAt: async factory => {
      if (!live.listFactories().includes(factory)) await lookAt(factory);
    },
    close: async () => {
      clearInterval(timer);
      await looking;
    },
  };
}
