import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { post, prepareRequests } from '../support/load.ts';
import { timeMs, until } from '../support/timing.ts';
import type { Stage } from './stage.ts';

const pollMs = 10;

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
  const executing = await until(pollMs, () => noted()[0]);
  (executing === 'one' ? one : two).kill();
  const tookMs = await timeMs(() => until(pollMs, () => noted().length > 1));
  for (const daemon of [one, two]) daemon.kill();
  rmSync(file);
  return tookMs;
}
