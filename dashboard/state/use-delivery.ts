import { callApi } from '../api-client.ts';
import type { ShownDelivery } from '../api-types.ts';
import { useFactory } from './current-factory.ts';
import { type Loading, useLoad } from './use-load.ts';

/** One delivery of the current factory. */
export function useDelivery(id: string): Loading<ShownDelivery> {
  const { factory } = useFactory();
  return useLoad(
    signal => callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal }),
    [factory, id],
  );
}
