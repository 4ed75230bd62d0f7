import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabaseForReading } from '../../store/embedded/delivery-log/sql/database.ts';
import { sendAtRate } from '../accept-path/open-loop.ts';
import type { BenchFactory, RunningDaemon } from '../support/factory.ts';
import { type LoadOptions, loadInTurn, rateOf, type Target } from '../support/load.ts';
import { median, percentile, round } from '../support/statistics.ts';

/** How deliveries are sent while something else is measured. */
export interface SteadyLoad {
  readonly target: Target;
  readonly rate: number;
}

/** Starts the daemon, and returns how long it took until it could receive deliveries. */
export async function measureStart(
  factory: BenchFactory,
): Promise<{ readonly daemon: RunningDaemon; readonly seconds: number }> {
  const startMs = performance.now();
  const daemon = await factory.serve();
  return { daemon, seconds: round((performance.now() - startMs) / 1_000, 2) };
}

/** Measures the answers of the ingress until `work` is done and for some seconds more, and how long `work` took. */
export async function measureMeanwhile(name: string, { target, rate }: SteadyLoad, work: Promise<unknown>) {
  const startMs = performance.now();
  let seconds: number | undefined;
  const done = work.then(() => {
    seconds = round((performance.now() - startMs) / 1_000);
  });
  const times: number[] = [];
  for (let secondsAfter = 0; secondsAfter < 5; ) {
    times.push(...(await sendAtRate(target, rate, { seconds: 1, connections: 64 })));
    if (seconds !== undefined) secondsAfter++;
  }
  await done;
  return {
    name,
    s: seconds,
    'p50 ms': round(median(times), 2),
    'p99 ms': round(percentile(times, 0.99), 2),
    'worst ms': round(Math.max(...times)),
  };
}

/** Waits until the daemon has removed all deliveries that arrived before a time. */
export async function awaitRetention(file: string, keptSinceMs: number): Promise<void> {
  const database = openDatabaseForReading(file);
  const oldest = database.prepare<[], number>('SELECT at_ms FROM deliveries ORDER BY seq LIMIT 1').pluck();
  while ((oldest.get() ?? 0) < keptSinceMs) await delay(100);
  database.close();
}

/** Compares how many deliveries a second two daemons accept, in turns. */
export async function compareRates(full: Target, empty: Target, options: LoadOptions & { rounds: number }) {
  const results = await loadInTurn([full, empty], options);
  const rates = [full, empty].map(({ name }) => median((results.get(name) ?? []).map(rateOf)));
  return { 'full log /s': round(rates[0] ?? 0, 0), 'empty log /s': round(rates[1] ?? 0, 0) };
}

/** Makes a backup. */
export async function backUp({ home, hookmill }: BenchFactory): Promise<{ readonly bytes: number }> {
  const file = join(home, '..', 'backup');
  await hookmill('store', 'backup', file);
  return { bytes: statSync(file).size };
}
