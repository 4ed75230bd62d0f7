import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readMemoryMb, readMetrics, readStatus } from '../support/daemon-figures.ts';
import type { RunningDaemon } from '../support/factory.ts';
import { percentile, round, slope } from '../support/statistics.ts';

/** The sources of the figures. */
interface Sources {
  readonly pid: number;
  readonly metric: (name: string) => number;
  /** The times of the answers to senders since the last sample. */
  readonly answers: readonly number[];
  /** The size of a file of the home. */
  readonly fileMb: (name: string) => number;
}

/** Each figure with the number of decimals to show. */
const figures: Readonly<Record<string, readonly [decimals: number, read: (from: Sources) => number]>> = {
  'RSS MB': [1, ({ pid }) => readMemoryMb(pid, 'VmRSS')],
  'heap used MB': [1, ({ metric }) => metric('nodejs_heap_size_used_bytes') / 1e6],
  'heap total MB': [1, ({ metric }) => metric('nodejs_heap_size_total_bytes') / 1e6],
  'external MB': [1, ({ metric }) => metric('nodejs_external_memory_bytes') / 1e6],
  'file descriptors': [0, ({ pid }) => readdirSync(`/proc/${pid}/fd`).length],
  threads: [0, ({ pid }) => readStatus(pid, 'Threads')],
  'loop delay p99 ms': [2, ({ metric }) => metric('nodejs_eventloop_lag_p99_seconds') * 1_000],
  'answer p50 ms': [2, ({ answers }) => percentile(answers, 0.5)],
  'answer p99 ms': [2, ({ answers }) => percentile(answers, 0.99)],
  'log MB': [1, ({ fileMb }) => fileMb('deliveries.db')],
  'WAL MB': [1, ({ fileMb }) => fileMb('deliveries.db-wal')],
  'queued runs': [0, ({ metric }) => metric('hookmill_runs_queued')],
};

/** The figures after so many hours, in their order. */
export interface SoakSample {
  readonly hours: number;
  readonly values: readonly number[];
}

/** Reads the figures of a daemon on Linux. */
export async function takeSample(
  { pid, managementUrl }: RunningDaemon,
  { home, hours, answers }: { home: string; hours: number; answers: readonly number[] },
): Promise<SoakSample> {
  const metrics = await readMetrics(`${managementUrl}/metrics`);
  const metric = (name: string) => metrics.get(name) ?? Number.NaN;
  const fileMb = (name: string) => (statSync(join(home, name), { throwIfNoEntry: false })?.size ?? 0) / 1e6;
  const from = { pid, metric, answers, fileMb };
  return { hours, values: Object.values(figures).map(([, read]) => read(from)) };
}

export function printSample({ hours, values }: SoakSample): void {
  const shown = Object.entries(figures).map(
    ([name, [decimals]], index) => `${name} ${round(values[index] ?? Number.NaN, decimals)}`,
  );
  console.log(`${Math.round(hours * 60)} min: ${shown.join(', ')}`);
}

/** Prints the first and the last value, the largest one, and the slope of the second half, per hour. */
export function printSlopes(samples: readonly SoakSample[]): void {
  const half = Math.floor(samples.length / 2);
  console.table(
    Object.entries(figures).map(([figure, [decimals]], index) => {
      const points = samples.map(({ hours, values }) => [hours, values[index] ?? Number.NaN] as const);
      const values = points.map(([, value]) => value);
      const show = (value = Number.NaN) => round(value, decimals);
      return {
        figure,
        first: show(values[0]),
        last: show(values.at(-1)),
        largest: show(Math.max(...values)),
        'slope per hour': round(slope(points.slice(half)), 2),
      };
    }),
  );
}
