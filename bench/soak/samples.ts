import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningDaemon } from '../support/factory.ts';
import { percentile, round, slope } from '../support/statistics.ts';

/** What is read of the daemon and its home, with the number of decimals to show. */
const figures = {
  'RSS MB': 1,
  'heap used MB': 1,
  'heap total MB': 1,
  'external MB': 1,
  'file descriptors': 0,
  threads: 0,
  'loop delay p99 ms': 2,
  'answer p50 ms': 2,
  'answer p99 ms': 2,
  'log MB': 1,
  'WAL MB': 1,
  'queued runs': 0,
};
type Figure = keyof typeof figures;

export interface SoakSample extends Readonly<Record<Figure, number>> {
  readonly hours: number;
}

/** Reads the figures of a daemon on Linux. `answers` has the times of the answers to senders since the last sample. */
export async function takeSample(
  { pid, managementUrl }: RunningDaemon,
  { home, hours, answers }: { home: string; hours: number; answers: readonly number[] },
): Promise<SoakSample> {
  const metrics = await (await fetch(`${managementUrl}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const ofProcess = (field: string) => Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1]);
  const fileMb = (name: string) => statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0;
  return {
    hours,
    'RSS MB': (ofProcess('VmRSS') * 1_024) / 1e6,
    'heap used MB': metric('nodejs_heap_size_used_bytes') / 1e6,
    'heap total MB': metric('nodejs_heap_size_total_bytes') / 1e6,
    'external MB': metric('nodejs_external_memory_bytes') / 1e6,
    'file descriptors': readdirSync(`/proc/${pid}/fd`).length,
    threads: ofProcess('Threads'),
    'loop delay p99 ms': metric('nodejs_eventloop_lag_p99_seconds') * 1_000,
    'answer p50 ms': percentile(answers, 0.5),
    'answer p99 ms': percentile(answers, 0.99),
    'log MB': fileMb('deliveries.db') / 1e6,
    'WAL MB': fileMb('deliveries.db-wal') / 1e6,
    'queued runs': metric('hookmill_runs_queued'),
  };
}

export function printSample({ hours, ...sample }: SoakSample): void {
  const shown = Object.entries(sample).map(([name, value]) => `${name} ${show(name, value)}`);
  console.log(`${Math.round(hours * 60)} min: ${shown.join(', ')}`);
}

/** Prints the first and the last value, the largest one, and the slope of the second half, per hour. */
export function printSlopes(samples: readonly SoakSample[]): void {
  const half = samples.slice(Math.floor(samples.length / 2));
  console.table(
    Object.keys(figures).map(name => {
      const values = samples.map(sample => sample[name as Figure]);
      return {
        figure: name,
        first: show(name, values[0]),
        last: show(name, values.at(-1)),
        largest: show(name, Math.max(...values)),
        'slope per hour': round(slope(half.map(sample => [sample.hours, sample[name as Figure]])), 2),
      };
    }),
  );
}

function show(name: string, value = Number.NaN): number {
  return round(value, figures[name as Figure]);
}
