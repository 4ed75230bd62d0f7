import { callApi } from '../api-client.ts';
import type { ListedAutomation } from '../api-types.ts';
import { useFactory } from './current-factory.ts';
import { useLoad } from './use-load.ts';

/** The automations with a trigger for the webhook; undefined until they are read. */
export function useListeners(uid: string): readonly ListedAutomation[] | undefined {
  const { factory } = useFactory();
  const { value } = useLoad(
    signal => callApi('get', '/factories/{factory}/automations', { factory, signal }),
    [factory],
  );
  return value?.automations.filter(({ triggers }) => triggers.some(trigger => trigger.uid === uid));
}
