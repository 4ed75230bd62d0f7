import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from './stage.ts';

const pollMs = 10;

/** Kills a daemon that executes a run, and measures the time until the other one begins it again, in ms. */
export async function measureTakeOver(stage: Stage, directory: string): Promise<number> {
  const file = join(directory, 'executions');
  const script = `echo "$REPLICA" >> "$0"; sleep 20`;
  const runner = { kind: 'command', argv: ['sh', '-c', script, file], environment: ['REPLICA'] };
  const daemons = new Map([
    ['one', await stage.serve('one', { runs: { runner } })],
    ['two', await stage.serve('two', { runs: { runner } })],
  ]);
  const [first] = daemons.values();
  const headers = { authorization: `Bearer ${stage.token}` };
  const body = JSON.stringify({ take: 'over', at: Date.now() });
  await fetch(first ? stage.urlOn(first) : '', { method: 'POST', headers, body });
  const [executing = ''] = await untilNoted(file, 1);
  daemons.get(executing)?.kill();
  const killedMs = performance.now();
  await untilNoted(file, 2);
  const tookMs = performance.now() - killedMs;
  for (const daemon of daemons.values()) daemon.kill();
  rmSync(file);
  return tookMs;
}

async function untilNoted(file: string, count: number): Promise<readonly string[]> {
  for (;;) {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
    if (lines.length >= count) return lines;
    await sleep(pollMs);
  }
}
