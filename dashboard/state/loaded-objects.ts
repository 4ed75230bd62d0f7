import { callApi } from '../api-client.ts';
import type { ListedAutomation, ShownDelivery } from '../api-types.ts';
import { useFactory } from './current-factory.ts';
import { type Loading, useLoad } from './loading.ts';

/** One delivery of the current factory. */
export function useDelivery(id: string): Loading<ShownDelivery> {
  const { factory } = useFactory();
  return useLoad(
    signal => callApi('get', '/factories/{factory}/deliveries/{delivery}', { factory, delivery: id, signal }),
    [factory, id],
  );
}

/** The signature schemes that the daemon knows. */
export function useSchemes() {
  return useLoad(async signal => (await callApi('get', '/schemes', { signal })).schemes, []);
}

/** The automations with a trigger for the webhook; undefined until they are read. */
export function useListeners(uid: string): readonly ListedAutomation[] | undefined {
  const { factory } = useFactory();
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  return value?.automations.filter(({ triggers }) => triggers.some(trigger => trigger.uid === uid));
}
