import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startRetention } from '../../daemon/retention.ts';
import { recordRun } from './record-runs.ts';
import { openRunBench, type RunBench, runThatIs, silent } from './run-samples.ts';

const dayMs = 24 * 60 * 60 * 1000;

async function runOncePruned({ home, deliveryLog }: RunBench, nowMs: number): Promise<void> {
  const settings = { deliveries: 1, days: 7 };
  const retention = startRetention({ deliveryLog, home, settings, log: silent, nowMs: () => nowMs });
  await retention.stop();
}

test('removes the directories of runs whose deliveries are pruned, and no others', async () => {
  const bench = await openRunBench();
  const queue = await bench.start({});
  const nowMs = Date.now();
  const [old, recent, newest] = [
    await recordRun(bench.deliveryLog, { atMs: nowMs - 8 * dayMs }),
    await recordRun(bench.deliveryLog, { atMs: nowMs - 6 * dayMs }),
    await recordRun(bench.deliveryLog, { atMs: nowMs - dayMs }),
  ];
  for (const id of [old, recent, newest]) await runThatIs(bench, id, { state: 'succeeded' });
  await queue.stop();
  // Queued for as long as no queue is at work.
  const queued = await recordRun(bench.deliveryLog, { atMs: nowMs - 9 * dayMs });

  await runOncePruned(bench, nowMs);
  expect(readdirSync(bench.home.runsDirectory).sort()).toEqual([recent, newest].sort());
  expect(bench.reader.findRun(old)).toBeUndefined();
  expect(bench.reader.findRun(queued)).toMatchObject({ state: 'queued' });
});

test('removes directories whose runs left the log before, and nothing that is not a run', async () => {
  const bench = await openRunBench();
  await bench.start({});
  const known = await recordRun(bench.deliveryLog);
  await runThatIs(bench, known, { state: 'succeeded' });
  const unknown = `run_${'0'.repeat(26)}`;
  for (const name of [unknown, 'notes', 'run_notes'])
    mkdirSync(join(bench.home.runsDirectory, name, 'inner'), { recursive: true });

  await runOncePruned(bench, Date.now());
  expect(existsSync(join(bench.home.runsDirectory, unknown))).toBe(false);
  expect(readdirSync(bench.home.runsDirectory).sort()).toEqual([known, 'notes', 'run_notes'].sort());
});

test('looks again every hour', async () => {
  const bench = await openRunBench();
  await bench.start({});
  const id = await recordRun(bench.deliveryLog);
  await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded' });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  let nowMs = Date.now();
  const { home, deliveryLog } = bench;
  const settings = { deliveries: 1, days: 7 };
  const retention = startRetention({ deliveryLog, home, settings, log: silent, nowMs: () => nowMs });
  // The pass at the start has asked for the time already.
  nowMs += 8 * dayMs;
  vi.advanceTimersByTime(60 * 60 * 1000);
  await retention.stop();
  expect(readdirSync(home.runsDirectory)).not.toContain(id);
});

test('ends with the delivery log', async () => {
  const { home, deliveryLog } = await openRunBench();
  await deliveryLog.close();
  const settings = { deliveries: 50, days: 7 };
  await startRetention({ deliveryLog, home, settings, log: silent, nowMs: Date.now }).stop();
});
