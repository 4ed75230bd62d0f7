import { once } from 'node:events';
import pg from 'pg';
import { countWebhooks } from '../support/daemon-figures.ts';
import type { RunningDaemon } from '../support/factory.ts';
import { until } from '../support/timing.ts';
import type { Stage } from './stage.ts';

const pollMs = 2;

/** Adds a webhook, and measures the time from the commit of the apply until each daemon serves it, in ms. */
export async function measureReload(
  { store, factory }: Stage,
  daemons: readonly RunningDaemon[],
  name: string,
): Promise<number> {
  const client = new pg.Client({ connectionString: store });
  await client.connect();
  await client.query('LISTEN hookmill');
  const webhooks = await countWebhooks(daemons[0]?.managementUrl ?? '');
  const committed = once(client, 'notification').then(() => performance.now());
  factory.write(`webhooks/${name}.yaml`, 'secretName: LOAD\n');
  const applying = factory.apply();
  const committedMs = await committed;
  const isServed = async () => {
    const counts = await Promise.all(daemons.map(({ managementUrl }) => countWebhooks(managementUrl)));
    return counts.every(count => count > webhooks);
  };
  await until(pollMs, isServed);
  const servedMs = performance.now();
  await applying;
  await client.end();
  return servedMs - committedMs;
}
