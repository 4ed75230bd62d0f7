import { callApi } from '../api-client.ts';
import type { FactoryHealth, ListedWebhook, ShownRunTallies } from '../api-types.ts';
import { type Loading, usePolled } from './loading.ts';

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
