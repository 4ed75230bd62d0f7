import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type RetentionOptions, startRetention } from '../../../../daemon/runs/retention.ts';
import type { DeliveryLog } from '../../../../store/ports/delivery-log.ts';
import { mountSmallDisk } from '../../../support/small-disk.ts';
import { recordRun } from './record-runs.ts';
import { openRunBench, type RunBench, runThatIs, silent } from './run-samples.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Starts retention on the bench as if it were then. */
function start(
  { store, deliveryLog }: RunBench,
  nowMs: () => number,
  given: Partial<Pick<RetentionOptions, 'deliveryLog' | 'log' | 'store'>> = {},
) {
  const settings = { deliveries: 1, days: 7 };
  const retention = startRetention({ deliveryLog, store, settings, log: silent, nowMs, ...given });
  onTestFinished(() => retention.stop());
  return retention;
}

/** The store without other replicas, whose turn it could be. */
const aloneWith = ({ store: { deliveries, runFiles } }: RunBench) => ({
  deliveries,
  runFiles,
  replicas: undefined,
});

const directoriesOf = ({ home }: RunBench) => expect.poll(() => readdirSync(home.runsDirectory).sort());

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

  start(bench, () => nowMs);
  await directoriesOf(bench).toEqual([recent, newest].sort());
  expect(await bench.store.deliveries.findRun(old)).toBeUndefined();
  expect(await bench.store.deliveries.findRun(queued)).toMatchObject({ state: 'queued' });
});

test('removes directories whose runs left the log before, and nothing that is not a run', async () => {
  const bench = await openRunBench();
  await bench.start({});
  const known = await recordRun(bench.deliveryLog);
  await runThatIs(bench, known, { state: 'succeeded' });
  const unknown = `run_${'0'.repeat(26)}`;
  for (const name of [unknown, 'notes', 'run_notes'])
    mkdirSync(join(bench.home.runsDirectory, name, 'inner'), { recursive: true });

  start(bench, Date.now);
  await directoriesOf(bench).toEqual([known, 'notes', 'run_notes'].sort());
});

test('removes the files of other runs though those of one cannot be removed', async context => {
  const bench = await openRunBench();
  const runs = ['0', '1', '2'].map(digit => join(bench.home.runsDirectory, `run_${digit.repeat(26)}`));
  for (const run of runs) mkdirSync(join(run, 'busy'), { recursive: true });
  // A mounted file system can be emptied, but not removed.
  const [first = ''] = readdirSync(bench.home.runsDirectory);
  if (!mountSmallDisk(join(bench.home.runsDirectory, first, 'busy'), '64k')) return context.skip();
  start(bench, Date.now);
  await directoriesOf(bench).toEqual([first]);
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
  start(bench, () => nowMs);
  // The pass at the start has asked for the time already.
  nowMs += 8 * dayMs;
  vi.advanceTimersByTime(60 * 60 * 1000);
  await directoriesOf(bench).not.toContain(id);
});

test('stops while a pass is under way, before or after the log closes, and the next one removes the rest', async () => {
  const bench = await openRunBench();
  const lines: string[] = [];
  const log = pino({}, { write: line => void lines.push(line) });
  const runs = ['0', '1', '2'].map(digit => `run_${digit.repeat(26)}`);
  for (const run of runs) mkdirSync(join(bench.home.runsDirectory, run), { recursive: true });
  const listRuns = () => readdirSync(bench.home.runsDirectory).sort();
  await start(bench, Date.now, { log }).stop();
  expect(listRuns()).toEqual(runs);
  start(bench, Date.now, { log });
  await directoriesOf(bench).toEqual([]);
  const second = start(bench, Date.now, { log });
  await bench.deliveryLog.close();
  await second.stop();
  const asked = Promise.withResolvers<void>();
  const prune: DeliveryLog['prune'] = given => bench.deliveryLog.prune(given).finally(() => asked.resolve());
  const third = start(bench, Date.now, { log, deliveryLog: { prune }, store: aloneWith(bench) });
  await asked.promise;
  // The pass has met the closed log.
  await setImmediate();
  await third.stop();
  expect(lines).toEqual([]);
});

test('does not hold up a stop for a pass that takes long', async () => {
  const bench = await openRunBench();
  const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let pruned = false;
  const deliveryLog: Pick<DeliveryLog, 'prune'> = {
    prune: async given => {
      asked.resolve();
      await gate.promise;
      pruned = true;
      return bench.deliveryLog.prune(given);
    },
  };
  const retention = start(bench, Date.now, { deliveryLog, store: aloneWith(bench) });
  await asked.promise;
  await retention.stop();
  expect(pruned).toBe(false);
  gate.resolve();
});
