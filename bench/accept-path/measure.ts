import { setTimeout as delay } from 'node:timers/promises';
import { readMetrics } from '../support/daemon-figures.ts';
import { type LoadOptions, load, sendAtRate, type Target } from '../support/load.ts';
import { percentile } from '../support/statistics.ts';

/** Requests per second of an open loop. */
const steadyRate = 1_000;

/** The figures of one turn of a case: times in ms, processor time per request in µs. */
export interface Sample {
  readonly perSecond?: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly clientUs?: number;
  readonly serverUs?: number;
  /** Rows that the delivery log committed together, on average. */
  readonly rowsPerCommit?: number;
}

/** Measures one case for one turn. */
export type Measure = () => Promise<Sample>;

export type Measures = ReturnType<typeof createMeasures>;

/** Makes measures with the same options: of a target under load, and at a constant rate. */
export function createMeasures(options: LoadOptions) {
  const load = (target: Target) => () => measureLoad(target, options);
  const atRate = (target: Target) => () => measureAtRate(target, options);
  return { options, load, atRate };
}

async function measureLoad(target: Target, options: LoadOptions): Promise<Sample> {
  const read = async () => (target.metricsUrl ? readMetrics(target.metricsUrl) : new Map<string, number>());
  const before = await read();
  const cpu = process.cpuUsage();
  let result = await load(target, options);
  // On a busy machine, a short round may end before the first answer.
  while (result.requests.total === 0) result = await load(target, options);
  const { user, system } = process.cpuUsage(cpu);
  const after = await read();
  const grown = (name: string) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN);
  const { requests, latency, duration } = result;
  const sample = {
    perSecond: requests.total / duration,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    clientUs: (user + system) / requests.total,
    serverUs: (grown('process_cpu_seconds_total') * 1_000_000) / requests.total,
    rowsPerCommit: grown('hookmill_delivery_log_committed') / grown('hookmill_delivery_log_commits'),
  };
  return Object.fromEntries(Object.entries(sample).filter(([, value]) => Number.isFinite(value)));
}

async function measureAtRate(target: Target, { seconds, connections }: LoadOptions): Promise<Sample> {
  const times = await sendAtRate(target, steadyRate, connections, delay(seconds * 1_000));
  return { perSecond: steadyRate, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}
