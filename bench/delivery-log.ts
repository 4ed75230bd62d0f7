// Measures the delivery log without the ingress; then what the keys of automations that say how runs flow add to a
// delivery with one run, their lanes included, in turns with an automation that has none.
// Usage: node bench/delivery-log.ts [--seconds 3]. The log is in TMPDIR, so that is the disk that it measures.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compileRunFlow } from '../operations/impact/run-flow.ts';
import type { RunFlowKeys } from '../schema/definitions/automation-definition.ts';
import { createSortableId } from '../schema/ids.ts';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';
import { openDeliveryLog } from '../store/embedded/delivery-log/write/open-delivery-log.ts';
import type { AcceptedDelivery, NewRun } from '../store/ports/delivery-log.ts';
import { acceptedDelivery, rejectedDelivery } from '../test/support/deliveries.ts';
import { inTemporaryDirectory } from './support/factory.ts';
import { recordDeliveries } from './support/fill-log.ts';
import { parseOptions } from './support/options.ts';
import { describeTimes, median, round } from './support/statistics.ts';
import { measureInTurn, timeMs } from './support/timing.ts';

const { seconds } = parseOptions({ seconds: 3 });
const shapes = [
  { senders: 1, bytes: 300, runs: 0 },
  { senders: 16, bytes: 300, runs: 0 },
  { senders: 256, bytes: 300, runs: 0 },
  { senders: 256, bytes: 300, runs: 1 },
  { senders: 256, bytes: 4_096, runs: 1 },
  { senders: 64, bytes: 262_144, runs: 1 },
];
const flowKeys: Readonly<Record<string, RunFlowKeys>> = {
  none: {},
  concurrency: { concurrency: 2 },
  concurrencyKey: { concurrency: 1, concurrencyKey: '$.key' },
  order: { order: '$.key' },
  'order, concurrency': { order: '$.key', concurrency: 2 },
  debounce: { debounce: { for: '30s', key: '$.key' } },
  runsPerHour: { runsPerHour: 20 },
};

await inTemporaryDirectory(async directory => {
  const rows = [];
  for (const shape of shapes) rows.push(await measureShape(directory, shape));
  console.table(rows);
  console.table(await measureFlows(directory));
  console.table(await measureLists(join(directory, 'lists.db'), 100_000));
});

async function measureShape(directory: string, shape: (typeof shapes)[number]) {
  const { senders, bytes, runs } = shape;
  const file = join(directory, `${senders}-${bytes}-${runs}.db`);
  const make = () => delivery(bytes, runs ? [newRun()] : []);
  const { elapsedMs, committed, commits, latenciesMs, threadUs } = await record(file, senders, seconds, make);
  return {
    ...shape,
    'records/s': Math.round((committed / elapsedMs) * 1_000),
    'commits/s': Math.round((commits / elapsedMs) * 1_000),
    'records/commit': round(committed / commits, 2),
    ...describeTimes(latenciesMs),
    'main thread µs/record': round(threadUs / committed, 2),
  };
}

async function measureFlows(directory: string) {
  const measures = Object.entries(flowKeys).map(([name, keys]) => {
    const flow = compileRunFlow('default', { name: 'triage', ...keys });
    let sent = 0;
    let turn = 0;
    const make = () => {
      const own = flow?.({ key: sent++ % 100 });
      return delivery(300, [{ ...newRun(), ...(own && { flow: own }) }]);
    };
    const measure = async () => {
      const file = join(directory, `flow-${turn++}-${name}.db`);
      const { committed, elapsedMs, processUs } = await record(file, 256, seconds / 3, make);
      return { rate: (committed / elapsedMs) * 1_000, cpuUs: processUs / committed };
    };
    return [name, measure] as const;
  });
  const results = await measureInTurn(Object.fromEntries(measures), 5);
  return Object.entries(results).map(([name, rounds]) => {
    const none = (turn: number) => results.none?.[turn] ?? { rate: Number.NaN, cpuUs: Number.NaN };
    return {
      keys: name,
      'records/s': Math.round(median(rounds.map(({ rate }) => rate))),
      'of none': round(median(rounds.map(({ rate }, turn) => rate / none(turn).rate)), 3),
      'CPU µs/record': round(median(rounds.map(({ cpuUs }) => cpuUs))),
      'more µs': round(median(rounds.map(({ cpuUs }, turn) => cpuUs - none(turn).cpuUs))),
    };
  });
}

/** Lets each sender record a delivery, and wait until it is on disk before the next, for some seconds. */
async function record(file: string, senders: number, seconds: number, make: () => AcceptedDelivery) {
  const log = await openDeliveryLog(file);
  const latenciesMs: number[] = [];
  const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()];
  const startMs = performance.now();
  const send = async () => {
    while (performance.now() < startMs + seconds * 1_000)
      latenciesMs.push(await timeMs(() => log.recordAccepted(make())));
  };
  await Promise.all(Array.from({ length: senders }, send));
  const elapsedMs = performance.now() - startMs;
  const usOf = ({ user, system }: NodeJS.CpuUsage) => user + system;
  const [threadUs, processUs] = [usOf(process.threadCpuUsage(thread)), usOf(process.cpuUsage(whole))];
  const { committed, commits } = log.stats();
  await log.close();
  return { elapsedMs, committed, commits, latenciesMs, threadUs, processUs };
}

async function measureLists(file: string, count: number) {
  await recordDeliveries(file, count, () => delivery(300, [newRun()]));
  const log = await openDeliveryLog(file);
  log.recordUnidentified(rejectedDelivery());
  await log.close();
  const reader = openSqliteReader(file);
  const filters = [{}, { webhook: 'pay' }, { outcome: 'Duplicate' }, { webhook: 'gone' }] as const;
  return filters.map(filter => {
    const startMs = performance.now();
    const found = reader.listDeliveries({ factory: 'default', limit: 50, ...filter }).length;
    return { rows: count, filter: JSON.stringify(filter), found, ms: round(performance.now() - startMs, 2) };
  });
}

function delivery(bytes: number, runs: readonly NewRun[]): AcceptedDelivery {
  return acceptedDelivery({ atMs: Date.now(), payload: Buffer.alloc(bytes, '{"a":1}'), runs });
}

function newRun(): NewRun {
  return { id: createSortableId('run', Date.now(), randomBytes(16)), automation: 'triage' };
}
