import type {
  FactoryHealth,
  ListedAutomation,
  ListedScheme,
  ListedWebhook,
  ShownDelivery,
  ShownRunTallies,
} from '../api-answers.ts';
import { callApi } from '../api-client.ts';
import { useFactory } from './current-factory.ts';
import { type Loading, useLoad, usePolled } from './loading.ts';
import { useApi } from './use-api.ts';

/** One delivery of the current factory. */
export function useDelivery(id: string): Loading<ShownDelivery> {
  const { factory } = useFactory();
  return useApi('/factories/{factory}/deliveries/{delivery}', { factory, delivery: id });
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

/** What happened in a factory in the last seven days. */
export interface FactoryDays {
  readonly factory: string;
  readonly health: FactoryHealth;
  readonly runs: ShownRunTallies;
  readonly webhooks: readonly ListedWebhook[];
}

const daysEveryMs = 20_000;

/** Reads the last seven days of some factories, again and again. It reads each of their webhooks. */
export function useFactoryDays(factories: readonly string[]): Loading<readonly FactoryDays[]> {
  return usePolled(
    (signal): Promise<readonly FactoryDays[]> =>
      Promise.all(factories.map(factory => readDays(factory, signal))),
    [factories.join('/')],
    daysEveryMs,
  );
}

async function readDays(factory: string, signal: AbortSignal): Promise<FactoryDays> {
  const [health, runs, { webhooks }] = await Promise.all([
    callApi('get', '/factories/{factory}/health', { factory, signal }),
    callApi('get', '/factories/{factory}/run-tallies', { factory, signal }),
    callApi('get', '/factories/{factory}/webhooks', { factory, signal }),
  ]);
  return { factory, health, runs, webhooks };
}

/** Whether no webhook of the factory has ever been asked for anything. */
export function isUntouched({ health: { webhooks } }: FactoryDays): boolean {
  return webhooks.every(
    ({ lastDelivery, lastGoodAt, lastRejectedAt }) => !lastDelivery && !lastGoodAt && !lastRejectedAt,
  );
}
