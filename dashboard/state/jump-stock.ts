import { callApi } from '../api-client.ts';
import { type JumpStock, toIdPart } from './jump-targets.ts';
import { useLoad } from './loading.ts';

/** Newest deliveries, and newest runs, among which a part of an ID is found. */
const idsRead = 100;
const noStock: JumpStock = { webhooks: [], automations: [], ids: [] };

/** Reads what a factory has. The IDs of deliveries and runs only once something that may be a part of one is typed. */
export function useJumpStock(factory: string | undefined, sought: string): JumpStock {
  const isId = toIdPart(sought) !== undefined;
  const names = useLoad(
    async signal => {
      if (factory === undefined) return undefined;
      const [{ webhooks }, { automations }] = await Promise.all([
        callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
        callApi('get', '/factories/{factory}/automations', { factory, signal }),
      ]);
      return { webhooks, automations };
    },
    [factory],
  ).value;
  const ids = useLoad(
    async signal => {
      if (factory === undefined || !isId) return undefined;
      const query = { limit: idsRead };
      const [{ deliveries }, { runs }] = await Promise.all([
        callApi('get', '/factories/{factory}/deliveries', { factory, query, signal }),
        callApi('get', '/factories/{factory}/runs', { factory, query, signal }),
      ]);
      return [...deliveries, ...runs].map(({ id }) => id);
    },
    [factory, isId],
  ).value;
  return { ...noStock, ...names, ids: ids ?? [] };
}
