import { useEffect, useState } from 'preact/hooks';
import { callApi } from '../api-client.ts';
import type { Delivery, LiveDeliveries } from '../api-types.ts';
import { useAction } from './use-action.ts';
import { useLoad } from './use-load.ts';
import { watchDeliveries } from './watch-deliveries.ts';

const pageSize = 30;
/** Beyond this many that came while the page was open, the list begins anew instead of growing. */
const arrivedMax = 300;

interface Asked {
  readonly factory: string;
  readonly webhook: string;
  readonly outcome: Delivery['outcome'] | undefined;
}

export interface DeliveryRows {
  /** Newest first; undefined until they were read. */
  readonly rows: readonly Delivery[] | undefined;
  /** How many of the rows came since they were read. */
  readonly arrived: number;
  readonly live: boolean;
  readonly busy: boolean;
  readonly error: unknown;
  readonly reload: () => void;
  /** Reads the next page; undefined on the last. */
  readonly more: (() => void) | undefined;
}

interface Page {
  readonly deliveries: readonly Delivery[];
  readonly next: string | null;
}

/** The deliveries of a webhook: pages that were asked for, and before them those that arrive meanwhile. */
export function useDeliveries({ factory, webhook, outcome }: Asked): DeliveryRows {
  const read = (cursor?: string, signal?: AbortSignal) =>
    callApi('get', '/factories/{factory}/deliveries', {
      factory,
      query: { webhook, outcome, limit: pageSize, ...(cursor !== undefined && { cursor }) },
      signal,
    });
  const first = useLoad(signal => read(undefined, signal), [factory, webhook, outcome]);
  const [arrived, setArrived] = useState<readonly Delivery[]>([]);
  const [older, setOlder] = useState<Page>();
  const [live, setLive] = useState(false);

  const reload = () => {
    setArrived([]);
    setOlder(undefined);
    first.reload();
  };
  const take = ({ deliveries, skipped }: LiveDeliveries) => {
    if (skipped > 0) return reload();
    const newest = deliveries
      .filter(delivery => outcome === undefined || delivery.outcome === outcome)
      .toReversed();
    setArrived(known => (known.length > arrivedMax ? known : unique([...newest, ...known])));
  };
  // One connection for each list, however often it is drawn meanwhile.
  useEffect(() => {
    let opened = 0;
    return watchDeliveries({
      factory,
      webhook,
      onDeliveries: take,
      onLive: isLive => {
        setLive(isLive);
        // What came while the view was not live was not told.
        if (isLive && opened++ > 0) reload();
      },
    });
  }, [factory, webhook, outcome]);
  useEffect(() => {
    if (arrived.length > arrivedMax) reload();
  });

  const next = older ? older.next : first.value?.next;
  const paging = useAction(async () => {
    const page = await read(next ?? undefined);
    setOlder(known => ({ deliveries: [...(known?.deliveries ?? []), ...page.deliveries], next: page.next }));
  });
  return {
    rows: first.value && unique([...arrived, ...first.value.deliveries, ...(older?.deliveries ?? [])]),
    arrived: arrived.length,
    live,
    busy: paging.busy,
    error: first.error ?? paging.error,
    reload,
    more: next ? () => paging.run() : undefined,
  };
}

/** A delivery may be told of by the live view and be on the page that was read meanwhile. */
function unique(deliveries: readonly Delivery[]): Delivery[] {
  return [...new Map(deliveries.map(delivery => [delivery.id, delivery])).values()];
}
