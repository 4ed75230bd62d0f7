import { useEffect, useState } from 'preact/hooks';
import { buildApiUrl, callApi } from '../api-client.ts';
import type { CommittedDeliveries, ListedDelivery } from '../api-types.ts';
import { removeDuplicates, usePages } from './use-pages.ts';
import { watchEvents } from './watch-events.ts';

const pageSize = 30;
/** @limit Most deliveries that an open page adds to its list as they arrive: past it, the list is read again from the top. */
export const arrivedDeliveriesMax = 300;

interface DeliveriesOptions {
  readonly factory: string;
  readonly webhook: string;
  readonly outcome: ListedDelivery['outcome'] | undefined;
}

/** The deliveries of a webhook, newest first: the pages that were read, and those that arrive in the meantime. */
export function useDeliveries({ factory, webhook, outcome }: DeliveriesOptions) {
  const keys = [factory, webhook, outcome];
  const pages = usePages(async (cursor, signal) => {
    const query = { webhook, outcome, limit: pageSize, cursor };
    const { deliveries, next } = await callApi('get', '/factories/{factory}/deliveries', {
      factory,
      query,
      signal,
    });
    return { rows: deliveries, next };
  }, keys);
  const [arrived, setArrived] = useState<readonly ListedDelivery[]>([]);
  const [live, setLive] = useState(false);

  const reload = () => {
    setArrived([]);
    pages.dropOlder();
    pages.reload();
  };
  const add = ({ deliveries, skipped }: CommittedDeliveries) => {
    if (skipped > 0) return reload();
    const newest = deliveries
      .filter(delivery => outcome === undefined || delivery.outcome === outcome)
      .toReversed();
    setArrived(known =>
      known.length > arrivedDeliveriesMax ? known : removeDuplicates([...newest, ...known]),
    );
  };
  // One connection for each list, however often it is rendered.
  useEffect(() => {
    let opened = 0;
    return watchEvents({
      url: buildApiUrl('/factories/{factory}/live-deliveries', { factory, query: { webhook } }),
      name: 'deliveries',
      onEvent: add,
      onLive: isLive => {
        setLive(isLive);
        // After a reconnect: deliveries that arrived in between were not reported.
        if (isLive && opened++ > 0) reload();
      },
    });
  }, keys);
  useEffect(() => {
    if (arrived.length > arrivedDeliveriesMax) reload();
  });

  return {
    ...pages,
    rows: pages.rows && removeDuplicates([...arrived, ...pages.rows]),
    /** How many of the rows arrived since they were read. */
    arrived: arrived.length,
    live,
    reload,
  };
}
