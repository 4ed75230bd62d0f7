import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { RunningDaemon } from '../support/factory.ts';
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
  const webhooks = await countWebhooks(daemons[0] as RunningDaemon);
  const committed = once(client, 'notification').then(() => performance.now());
  factory.write(`webhooks/${name}.yaml`, 'secretName: LOAD\n');
  const applying = factory.apply();
  const committedMs = await committed;
  await Promise.all(daemons.map(daemon => untilServed(daemon, webhooks + 1)));
  const servedMs = performance.now();
  await applying;
  await client.end();
  return servedMs - committedMs;
}

async function untilServed(daemon: RunningDaemon, webhooks: number): Promise<void> {
  while ((await countWebhooks(daemon)) < webhooks) await sleep(pollMs);
}

async function countWebhooks({ managementUrl }: RunningDaemon): Promise<number> {
  const { factories } = (await (await fetch(`${managementUrl}/readyz`)).json()) as {
    readonly factories: readonly { readonly webhooks: number }[];
  };
  return factories.reduce((sum, factory) => sum + factory.webhooks, 0);
}
