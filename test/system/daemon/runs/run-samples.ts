import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { expect, onTestFinished } from 'vitest';
import { type RunQueue, type RunQueueOptions, startRunQueue } from '../../../../daemon/runs/run-queue.ts';
import { type RunSettings, runSettingsShape } from '../../../../daemon/runs/run-settings.ts';
import { openRunners, type RunnerDeps } from '../../../../daemon/runs/runners/create-runner.ts';
import type { CreatedRunner, OpenRunner, Runner } from '../../../../daemon/runs/runners/runner.ts';
import { type Home, homeAt } from '../../../../store/home/home.ts';
import type { DeliveryLog, Run } from '../../../../store/ports/delivery-log.ts';
import type { Store } from '../../../../store/ports/store.ts';
import { storeIn } from '../../../support/stored.ts';

export const silent = pino({ level: 'silent' });

/** A home in a temporary directory with its delivery log; what the log commits wakes the queue that is started on it. */
export interface RunBench {
  readonly home: Home;
  readonly store: Store;
  readonly deliveryLog: DeliveryLog;
  start(
    settings: Record<string, unknown>,
    options?: Partial<
      Pick<
        RunQueueOptions,
        | 'nowMs'
        | 'monotonicMs'
        | 'random'
        | 'daemonId'
        | 'deliveryLog'
        | 'log'
        | 'observe'
        | 'findGone'
        | 'runnerWaitMs'
      >
    > & {
      readonly runner?: Runner | CreatedRunner;
      readonly environment?: NodeJS.ProcessEnv;
    },
  ): Promise<RunQueue>;
}

export function runSettings(runs: Record<string, unknown>): RunSettings {
  return runSettingsShape.parse(runs);
}

/** Opens a bench, and closes it when the test ends unless it is told when. */
export async function openRunBench(
  directory = temporaryDirectory(),
  onEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<RunBench> {
  const home = homeAt(directory);
  const store = storeIn(home);
  const queues: RunQueue[] = [];
  const deliveryLog = await store.openDeliveryLog({
    onRunsQueued: () => {
      for (const queue of queues) queue.wake();
    },
  });
  onEnd(async () => {
    await Promise.all(queues.map(queue => queue.stop()));
    await deliveryLog.close();
    await store.close();
  });
  return {
    home,
    store,
    deliveryLog,
    start: async (runs, options = {}) => {
      const settings = runSettings(runs);
      const { environment = process.env, runner, ...rest } = options;
      if (settings.directory !== undefined) await store.runFiles.placeIn(settings.directory);
      const queue = await startRunQueue({
        deliveryLog,
        store,
        runners: await openRunnersWith(
          settings,
          { environment, store, deliveryLog, nowMs: Date.now },
          typeof runner === 'function' ? { execute: runner } : runner,
        ),
        findGone: async () => [],
        daemonId: randomUUID(),
        log: silent,
        observe: () => undefined,
        nowMs: Date.now,
        // A test that sets the clock sets both, unless it says otherwise.
        monotonicMs: options.nowMs ?? (() => performance.now()),
        random: () => 0,
        ...rest,
      });
      queues.push(queue);
      return queue;
    },
  };
}

/** Opens the runners of the settings; with `own`, that executes the runs of the default one instead. */
async function openRunnersWith(settings: RunSettings, deps: RunnerDeps, own?: CreatedRunner) {
  const runners = await openRunners(settings, deps);
  const replace = (runner: OpenRunner) => (own ? { ...runner, tellCancelled: undefined, ...own } : runner);
  return { ...runners, find: (run: Parameters<typeof runners.find>[0]) => replace(runners.find(run)) };
}

/** Opens the runner of automations that name none. */
export async function openDefaultRunner(settings: RunSettings, deps: RunnerDeps): Promise<OpenRunner> {
  const runners = await openRunners(settings, deps);
  return runners.find({ runner: 'default', factory: 'default', automation: 'triage' });
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'hookmill-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A directory that other users can pass through, for the directories of runs. */
export function enterable(): string {
  const directory = temporaryDirectory();
  for (const path of [dirname(directory), directory]) chmodSync(path, 0o711);
  return directory;
}

/** Resolves with the run once its row matches `expected`. */
export async function runThatIs(
  { store }: Pick<RunBench, 'store'>,
  id: string,
  expected: Partial<Run>,
): Promise<Run> {
  await expect.poll(() => store.deliveries.findRun(id)).toMatchObject(expected);
  const run = await store.deliveries.findRun(id);
  if (!run) throw new Error(`${id} is gone`);
  return run;
}

/** The output of all attempts of a run. */
export async function outputOf({ store }: Pick<RunBench, 'store'>, id: string): Promise<string> {
  const output = await store.runFiles.readOutput(id);
  return output ? text(output.stream) : '';
}

/** Resolves with the file's text once it is there and holds something. */
export async function textOf(file: string): Promise<string> {
  await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toBeTruthy();
  return readFileSync(file, 'utf8');
}

/** Settings of a command runner whose command is this node program. */
export function nodeCommand(source: string, settings: Record<string, unknown> = {}): Record<string, unknown> {
  const script = join(temporaryDirectory(), 'command.mjs');
  writeFileSync(script, source);
  return { kind: 'command', argv: [process.execPath, script], ...settings };
}

/** Whether a process is alive. */
export function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    // A zombie is dead: its parent, here init, has not looked yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
