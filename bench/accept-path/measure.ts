import { type LoadOptions, load, rateOf, type Target } from '../support/load.ts';
import { percentile } from '../support/statistics.ts';
import { sendAtRate } from './open-loop.ts';

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

/** Measures a server under load. `metricsUrl` answers with the processor time that the server has used. */
export async function measureLoad(
  target: Target,
  options: LoadOptions,
  metricsUrl?: string,
): Promise<Sample> {
  const before = await readMetrics(metricsUrl);
  const cpu = process.cpuUsage();
  let result = await load(target, options);
  // On a busy machine, a short round may end before the first answer.
  while (result.requests.total === 0) result = await load(target, options);
  const { user, system } = process.cpuUsage(cpu);
  const after = await readMetrics(metricsUrl);
  const grown = (name: string) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN);
  const { requests, latency } = result;
  const sample = {
    perSecond: rateOf(result),
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    clientUs: (user + system) / requests.total,
    serverUs: (grown('process_cpu_seconds_total') * 1_000_000) / requests.total,
    rowsPerCommit: grown('hookmill_delivery_log_committed') / grown('hookmill_delivery_log_commits'),
  };
  return Object.fromEntries(Object.entries(sample).filter(([, value]) => Number.isFinite(value)));
}

/** Measures how long answers take at a constant rate. */
export async function measureAtRate(
  target: Target,
  perSecond: number,
  options: LoadOptions,
): Promise<Sample> {
  const times = await sendAtRate(target, perSecond, options);
  return { perSecond, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

async function readMetrics(url: string | undefined): Promise<ReadonlyMap<string, number>> {
  const text = url === undefined ? '' : await (await fetch(url)).text();
  const metrics = text.matchAll(/^(\w+) (\S+)$/gm);
  return new Map(Array.from(metrics, ([, name = '', value]) => [name, Number(value)]));
}
