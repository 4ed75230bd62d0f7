import { callApi } from '../api-client.ts';
import type { ListedAutomation, ListedScheme, ListedWebhook, ShownDelivery } from '../api-types.ts';
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

/** The scheme by which a provider signs to a webhook; null if there is none. */
export function useSchemeOf({ signatureScheme }: Pick<ListedWebhook, 'signatureScheme'>) {
  const id = typeof signatureScheme === 'string' ? signatureScheme : undefined;
  return useLoad(
    async (signal): Promise<ListedScheme | null> => {
      if (id === undefined) return null;
      return (await callApi('get', '/schemes', { query: { id }, signal })).schemes[0] ?? null;
    },
    [id],
  );
}

/** The automations with a trigger for the webhook. */
export function useListeners(uid: string): Loading<readonly ListedAutomation[]> {
  const { factory } = useFactory();
  return useLoad(
    async (signal): Promise<readonly ListedAutomation[]> => {
      const { automations } = await callApi('get', '/factories/{factory}/automations', { factory, signal });
      return automations.filter(({ triggers }) => triggers.some(trigger => trigger.uid === uid));
    },
    [factory, uid],
  );
}
