import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { countWebhooks } from '../support/daemon-figures.ts';
import type { RunningDaemon } from '../support/factory.ts';
import { post, prepareRequests } from '../support/load.ts';
import { timeMs, until } from '../support/timing.ts';
import type { Stage } from './stage.ts';

const servedPollMs = 2;

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
  await until(servedPollMs, isServed);
  const servedMs = performance.now();
  await applying;
  await client.end();
  return servedMs - committedMs;
}

const takenOverPollMs = 10;

/** Kills a daemon that executes a run, and measures the time until the other one begins it again, in ms. */
export async function measureTakeOver(stage: Stage, directory: string): Promise<number> {
  const file = join(directory, 'executions');
  const script = `echo "$REPLICA" >> "$0"; sleep 20`;
  const runner = { kind: 'command', argv: ['sh', '-c', script, file], environment: ['REPLICA'] };
  const [one, two] = [
    await stage.serve('one', { runs: { runner } }),
    await stage.serve('two', { runs: { runner } }),
  ];
  const target = one.targetOf(stage);
  await post(target.url, prepareRequests(target)());
  const noted = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  const executing = await until(takenOverPollMs, () => noted()[0]);
  (executing === 'one' ? one : two).kill();
  const tookMs = await timeMs(() => until(takenOverPollMs, () => noted().length > 1));
  for (const daemon of [one, two]) daemon.kill();
  rmSync(file);
  return tookMs;
}
