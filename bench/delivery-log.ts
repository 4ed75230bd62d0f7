import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compileRunFlow } from '../operations/impact/run-flow.ts';
import type { RunFlowKeys } from '../schema/definitions/automation-definition.ts';
import { createSortableId, sortableIdRandomBytes } from '../schema/ids.ts';
import { openSqliteReader } from '../store/embedded/delivery-log/read/reader.ts';
import { openDeliveryLog } from '../store/embedded/delivery-log/write/open-delivery-log.ts';
import type { AcceptedDelivery, DeliveryLog } from '../store/ports/delivery-log.ts';
import { median, percentile, round } from './support/statistics.ts';

// Measures the delivery log without the ingress; then what the keys of automations that say how runs flow add to a
// delivery with one run, their lanes included, in turns with an automation that has none.
// Usage: node bench/delivery-log.ts [--seconds 3] [--directory DIR]
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, directory: { type: 'string', default: tmpdir() } },
});
const appliedState = { digest: 'a'.repeat(64), json: JSON.stringify({ automations: [] }) };
const flowKeys: Readonly<Record<string, RunFlowKeys>> = {
  none: {},
  concurrency: { concurrency: 2 },
  concurrencyKey: { concurrency: 1, concurrencyKey: '$.key' },
  order: { order: '$.key' },
  'order, concurrency': { order: '$.key', concurrency: 2 },
  debounce: { debounce: { for: '30s', key: '$.key' } },
  runsPerHour: { runsPerHour: 20 },
};
const directory = mkdtempSync(join(values.directory, 'hookmill-bench-'));
try {
  const seconds = Number(values.seconds);
  const shapes = [
    { senders: 1, bytes: 300, runs: 0 },
    { senders: 16, bytes: 300, runs: 0 },
    { senders: 256, bytes: 300, runs: 0 },
    { senders: 256, bytes: 300, runs: 1 },
    { senders: 256, bytes: 4_096, runs: 1 },
    { senders: 64, bytes: 262_144, runs: 1 },
  ];
  const rows = [];
  for (const shape of shapes) rows.push(await measure(shape, seconds));
  console.table(rows);
  console.table(await measureFlows(seconds / 3, 5));
  console.table(await measureLists(100_000));
} finally {
  rmSync(directory, { recursive: true });
}

/** Each sender records a delivery, and waits until it is on disk before the next. */
async function measure(shape: { senders: number; bytes: number; runs: number }, seconds: number) {
  const log = await openDeliveryLog(join(directory, `${Object.values(shape).join('-')}.db`));
  const latenciesMs: number[] = [];
  const cpu = process.threadCpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  const send = async () => {
    while (performance.now() < endMs) {
      const beginMs = performance.now();
      await log.recordAccepted(delivery(shape));
      latenciesMs.push(performance.now() - beginMs);
    }
  };
  await Promise.all(Array.from({ length: shape.senders }, send));
  const elapsedMs = performance.now() - startMs;
  const { user, system } = process.threadCpuUsage(cpu);
  const { committed, commits } = log.stats();
  await log.close();
  return {
    ...shape,
    'records/s': Math.round((committed / elapsedMs) * 1_000),
    'commits/s': Math.round((commits / elapsedMs) * 1_000),
    'records/commit': round(committed / commits, 2),
    'p50 ms': round(median(latenciesMs), 2),
    'p99 ms': round(percentile(latenciesMs, 0.99), 2),
    'main thread µs/record': round((user + system) / committed, 2),
  };
}

async function measureFlows(seconds: number, rounds: number) {
  const figures = Object.keys(flowKeys).map(name => ({ name, rates: [] as number[], cpuUs: [] as number[] }));
  for (let turn = 0; turn < rounds; turn++) {
    for (const { name, rates, cpuUs } of figures) {
      const flow = compileRunFlow('default', { name: 'triage', ...flowKeys[name] });
      const log = await openDeliveryLog(join(directory, `flow-${turn}-${name}.db`));
      const cpu = process.cpuUsage();
      const startMs = performance.now();
      let sent = 0;
      const send = async () => {
        while (performance.now() < startMs + seconds * 1_000) {
          const own = flow?.({ key: sent++ % 100 });
          const { runs, ...rest } = delivery({ bytes: 300, runs: 1 });
          await log.recordAccepted({
            ...rest,
            runs: runs.map(run => ({ ...run, ...(own && { flow: own }) })),
          });
        }
      };
      await Promise.all(Array.from({ length: 256 }, send));
      const { committed } = log.stats();
      rates.push((committed / (performance.now() - startMs)) * 1_000);
      const { user, system } = process.cpuUsage(cpu);
      cpuUs.push((user + system) / committed);
      await log.close();
    }
  }
  const [none] = figures;
  return figures.map(({ name, rates, cpuUs }) => ({
    keys: name,
    'records/s': Math.round(median(rates)),
    'of none': round(median(rates.map((rate, turn) => rate / (none?.rates[turn] ?? rate))), 3),
    'CPU µs/record': round(median(cpuUs), 1),
    'more µs': round(median(cpuUs.map((us, turn) => us - (none?.cpuUs[turn] ?? us))), 1),
  }));
}

async function measureLists(count: number) {
  const file = join(directory, 'lists.db');
  const log = await openDeliveryLog(file, { deliveriesWaitingMax: count });
  await Promise.all(
    Array.from({ length: count }, () => log.recordAccepted(delivery({ bytes: 300, runs: 1 }))),
  );
  await rejectOnce(log);
  await log.close();
  const reader = openSqliteReader(file);
  const filters = [{}, { webhook: 'pay' }, { outcome: 'Duplicate' }, { webhook: 'gone' }] as const;
  return filters.map(filter => {
    const startMs = performance.now();
    const found = reader.listDeliveries({ factory: 'default', limit: 50, ...filter }).length;
    return { rows: count, filter: JSON.stringify(filter), found, ms: round(performance.now() - startMs, 2) };
  });
}

async function rejectOnce(log: DeliveryLog): Promise<void> {
  const { id, factory, webhook, uid, atMs, size } = delivery({ bytes: 1, runs: 0 });
  log.recordUnidentified({ id, factory, webhook, uid, atMs, size, outcome: 'Rejected (auth)' });
}

function delivery({ bytes, runs }: { bytes: number; runs: number }): AcceptedDelivery {
  const atMs = Date.now();
  const id = () => randomBytes(sortableIdRandomBytes);
  return {
    id: createSortableId('dlv', atMs, id()),
    factory: 'default',
    webhook: 'pay',
    uid: 'wh_0123456789abcdefghijklmn',
    atMs,
    size: bytes,
    authenticatedBy: 'token',
    identity: randomBytes(32).toString('hex'),
    identitySource: 'body',
    headers: {},
    payload: Buffer.alloc(bytes, '{"a":1}'),
    appliedState,
    runs: Array.from({ length: runs }, () => ({
      id: createSortableId('run', atMs, id()),
      automation: 'triage',
    })),
  };
}
