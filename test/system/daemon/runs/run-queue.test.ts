import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { boundRetries } from '../../../../daemon/runs/run-settings.ts';
import type { AttemptResult, Runner } from '../../../../daemon/runs/runners/runner.ts';
import type { RunControl } from '../../../../schema/definitions/automation-definition.ts';
import type { DeliveryLog } from '../../../../store/ports/delivery-log.ts';
import { DeliveryLogError } from '../../../../store/ports/store-error.ts';
import { variablesOfHome } from '../../../support/home-place.ts';
import { mountSmallDisk } from '../../../support/small-disk.ts';
import { recordRun, recordRuns } from './record-runs.ts';
import { openRunBench, type RunBench, runThatIs, temporaryDirectory, textOf } from './run-samples.ts';

const quick = { backOff: { firstSeconds: 0.001, maxSeconds: 0.001 } };

/** A runner that ends each attempt as the test says. */
function manualRunner() {
  const attempts: { readonly run: string; end(result: AttemptResult): void }[] = [];
  const runner: Runner = ({ run }, signal) =>
    new Promise(resolve => {
      attempts.push({ run: run.id, end: resolve });
      signal.addEventListener('abort', () => resolve({ kind: 'retry', reason: 'stopped' }));
    });
  return { attempts, runner };
}

/** A runner that emits each attempt and ends it with the same result. */
function watchedRunner(result: AttemptResult = { kind: 'succeeded' }) {
  const started = new EventEmitter();
  const runner: Runner = async ({ run }) => {
    started.emit('run', run.id);
    return result;
  };
  return { started, runner };
}

/**
 * From here on the queue's timers fire only as the test says: nothing but what it shows can start a run.
 * Vitest's own polling would advance them.
 */
function useFakeTimeouts() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}

function statesOf({ store }: RunBench, ids: readonly string[]) {
  return Promise.all(ids.map(async id => (await store.deliveries.findRun(id))?.state));
}

test('leaves the message and the exact body in a private directory', async () => {
  const bench = await openRunBench();
  await bench.start({});
  const payload = Buffer.from([0x20, ...Buffer.from('{"a":\t1e400,"a":"\u2028é"}\r\n'), 0x0a]);
  const id = await recordRun(bench.deliveryLog, { payload });
  const run = await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });

  const directory = join(bench.home.runsDirectory, id);
  expect(readdirSync(directory).sort()).toEqual(['event-headers.json', 'event-payload.json', 'prompt.md']);
  expect(readFileSync(join(directory, 'event-payload.json')).equals(payload)).toBe(true);
  const message = readFileSync(join(directory, 'prompt.md'), 'utf8');
  expect(message.startsWith('Triage this payment.\n\n---\n')).toBe(true);
  expect(message).toContain(run.deliveryId);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory, 'event-payload.json')).mode & 0o777).toBe(0o644);
  expect(statSync(join(directory, 'event-headers.json')).mode & 0o777).toBe(0o644);
  expect(statSync(join(directory, 'prompt.md')).mode & 0o777).toBe(0o644);
});

test('starts a run when a commit has queued it, and at once those that were queued before', async () => {
  const bench = await openRunBench();
  const before = await recordRun(bench.deliveryLog);
  const { started, runner } = watchedRunner();
  useFakeTimeouts();
  const first = once(started, 'run');
  await bench.start({}, { runner });
  expect(await first).toEqual([before]);
  await runThatIs(bench, before, { state: 'succeeded' });

  const second = once(started, 'run');
  const after = await recordRun(bench.deliveryLog);
  expect(await second).toEqual([after]);
});

test('starts a run that was queued at any moment while a claim ends', async () => {
  const bench = await openRunBench();
  const other = await bench.store.openDeliveryLog();
  const { started, runner } = watchedRunner();
  let queued: { id?: string } | undefined;
  let turns = 0;
  const events = new EventEmitter();
  const claimRuns: DeliveryLog['claimRuns'] = async claim => {
    const claimed = await bench.deliveryLog.claimRuns(claim);
    events.emit('claim');
    if (queued && !queued.id) {
      queued.id = await recordRun(other);
      void afterTurns(turns).then(() => queue.wake());
    }
    return claimed;
  };
  useFakeTimeouts();
  const deliveryLog = { ...bench.deliveryLog, claimRuns };
  const queue = await bench.start({}, { runner, deliveryLog, observe: () => events.emit('end') });
  await once(events, 'claim');
  // A claim ends within fewer turns of the microtask queue.
  for (turns = 0; turns < 30; turns++) {
    // Nothing else wakes the queue.
    await setImmediate();
    const [begun, end] = [once(started, 'run'), once(events, 'end')];
    queued = {};
    queue.wake();
    expect(await begun).toEqual([queued.id]);
    await end;
    await once(events, 'claim');
  }
  await other.close();
});

test('finds the runs that another process queued', async () => {
  const bench = await openRunBench();
  await bench.start({});
  const other = await bench.store.openDeliveryLog();
  const id = await recordRun(other);
  await other.close();
  await runThatIs(bench, id, { state: 'succeeded' });
});

test('executes no more runs at a time than it may', async () => {
  const bench = await openRunBench();
  const { attempts, runner } = manualRunner();
  await bench.start({ concurrency: 2 }, { runner });
  const ids = await recordRuns(bench.deliveryLog, { runs: 5 });
  const states = () => statesOf(bench, ids);

  for (const started of [2, 3, 4, 5]) {
    await expect.poll(() => attempts.length).toBe(started);
    expect((await states()).filter(state => state === 'running')).toHaveLength(2);
    attempts[started - 2]?.end({ kind: 'succeeded' });
  }
  attempts[4]?.end({ kind: 'succeeded' });
  await expect.poll(states).toEqual(Array(5).fill('succeeded'));
  expect(new Set(attempts.map(({ run }) => run))).toEqual(new Set(ids));
});

test('tries a run again under the same id until its attempts are spent', async () => {
  const bench = await openRunBench();
  const { attempts, runner } = manualRunner();
  await bench.start({ ...quick, attempts: 3 }, { runner });
  const id = await recordRun(bench.deliveryLog);
  for (const attempt of [1, 2, 3]) {
    await expect.poll(() => attempts.length).toBe(attempt);
    attempts[attempt - 1]?.end({ kind: 'retry', reason: `reason ${attempt}` });
  }
  await runThatIs(bench, id, { state: 'failed', attempts: 3, error: 'reason 3' });
  expect(attempts.map(({ run }) => run)).toEqual([id, id, id]);
});

test.for([
  [2, 3, 2],
  [9, 3, 3],
])(
  'an automation that asks for %i attempts of the %i that the operator allows gets %i',
  async ([attempts, allowed, made]) => {
    const bench = await openRunBench();
    const runner: Runner = async () => ({ kind: 'retry', reason: 'later' });
    await bench.start({ ...quick, attempts: allowed }, { runner });
    const id = await recordRun(bench.deliveryLog, { control: { attempts } });
    await runThatIs(bench, id, { state: 'failed', attempts: made });
  },
);

test('the waits of an automation are bounded by those of the operator', () => {
  const operator = { attempts: 3, backOff: { firstSeconds: 10, maxSeconds: 600 } };
  const bound = (backOff: RunControl['backOff']) => boundRetries(operator, { backOff }).backOff;
  expect(bound({ first: '1m', max: '5m' })).toEqual({ firstSeconds: 60, maxSeconds: 300 });
  expect(bound({ max: '1h' })).toEqual(operator.backOff);
});

test('fails a run at once where another attempt would not help', async () => {
  const bench = await openRunBench();
  await bench.start(quick, { runner: async () => ({ kind: 'failed', reason: 'refused' }) });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'failed', attempts: 1, error: 'refused' });
});

test('waits for its back-off before the next attempt, and longer if the runner asks for it', async () => {
  const bench = await openRunBench();
  const nowMs = Date.now() + 60_000;
  const waits = [undefined, 5_000, 90_000];
  const runner: Runner = async () => {
    const afterMs = waits.shift();
    return afterMs === undefined ? { kind: 'retry', reason: 'no' } : { kind: 'retry', reason: 'no', afterMs };
  };
  let clockMs = nowMs;
  const settings = { attempts: 9, backOff: { firstSeconds: 10, maxSeconds: 600 } };
  const queue = await bench.start(settings, { runner, nowMs: () => clockMs, random: () => 0.5 });
  const id = await recordRun(bench.deliveryLog);

  await runThatIs(bench, id, { state: 'queued', attempts: 1, notBeforeMs: clockMs + 7_500 });
  clockMs += 7_500;
  queue.wake();
  await runThatIs(bench, id, { state: 'queued', attempts: 2, notBeforeMs: clockMs + 15_000 });
  clockMs += 15_000;
  queue.wake();
  await runThatIs(bench, id, { state: 'queued', attempts: 3, notBeforeMs: clockMs + 90_000 });
});

test('wakes by itself when the next attempt is due', async () => {
  const bench = await openRunBench();
  const { started, runner } = watchedRunner({ kind: 'retry', reason: 'no' });
  let clockMs = Date.now();
  const claims = new EventEmitter();
  const claimRuns: DeliveryLog['claimRuns'] = async claim => {
    const claimed = await bench.deliveryLog.claimRuns(claim);
    if (claimed.nextDueMs !== undefined) claims.emit('next', claimed.nextDueMs);
    return claimed;
  };
  useFakeTimeouts();
  const deliveryLog = { ...bench.deliveryLog, claimRuns };
  const backOff = { firstSeconds: 0.5, maxSeconds: 0.5 };
  await bench.start({ backOff }, { nowMs: () => clockMs, deliveryLog, runner });
  const next = once(claims, 'next');
  const id = await recordRun(bench.deliveryLog, { atMs: clockMs });
  expect(await next).toEqual([clockMs + 500]);
  // The queue sets its timer on the answer that this test has seen first.
  await setImmediate();

  const again = once(started, 'run');
  clockMs += 500;
  vi.advanceTimersByTime(500);
  expect(await again).toEqual([id]);
});

test('postpones what hookmill itself could not begin, without counting an attempt, and says what it was', async () => {
  const bench = await openRunBench();
  let isBroken = true;
  const runner: Runner = async () => {
    if (isBroken) throw Object.assign(new Error('x'), { code: 'EIO' });
    return { kind: 'succeeded' };
  };
  await bench.start({ ...quick, attempts: 1 }, { runner });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, {
    state: 'queued',
    attempts: 0,
    error: 'the run could not be executed (EIO)',
  });
  isBroken = false;
  await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });
});

test('uses up no attempt while the disk for the files of runs is full', async context => {
  const bench = await openRunBench();
  const { runsDirectory } = bench.home;
  mkdirSync(runsDirectory);
  if (!mountSmallDisk(runsDirectory, '64k')) return context.skip('needs the right to mount a tmpfs');
  const ballast = join(runsDirectory, 'ballast');
  writeFileSync(ballast, Buffer.alloc(60_000));
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: line => lines.push(line) });
  await bench.start({ ...quick, attempts: 1 }, { log });
  const ids = await recordRuns(bench.deliveryLog, {
    runs: 3,
    payload: Buffer.from(`"${'x'.repeat(8_000)}"`),
  });
  for (const id of ids) await runThatIs(bench, id, { state: 'queued', attempts: 0 });
  await expect
    .poll(async () => (await bench.store.deliveries.findRun(ids[0] ?? ''))?.error)
    .toMatch(/ENOSPC/);
  rmSync(ballast);
  for (const id of ids) await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });
  expect(lines.filter(line => line.includes('cannot execute runs'))).toHaveLength(1);
  expect(lines.filter(line => line.includes('can execute runs again'))).toHaveLength(1);
});

test('executes queued runs when the clock was set back an hour', async () => {
  const bench = await openRunBench();
  let setBackMs = 0;
  const { attempts, runner } = manualRunner();
  await bench.start(
    { concurrency: 1 },
    { runner, nowMs: () => Date.now() - setBackMs, monotonicMs: () => performance.now() },
  );
  const [first = '', second = ''] = await recordRuns(bench.deliveryLog, { runs: 2 });
  await expect.poll(() => attempts.length).toBe(1);
  setBackMs = 3_600_000;
  attempts[0]?.end({ kind: 'succeeded' });
  await runThatIs(bench, first, { state: 'succeeded' });
  await expect.poll(() => attempts.length).toBe(2);
  attempts[1]?.end({ kind: 'succeeded' });
  await runThatIs(bench, second, { state: 'succeeded' });
});

test('executes runs at once that were queued before the clock was set back, while no daemon ran', async () => {
  const bench = await openRunBench();
  const id = await recordRun(bench.deliveryLog, { atMs: Date.now() + 3_600_000 });
  await bench.start({});
  await runThatIs(bench, id, { state: 'succeeded' });
});

test('gives runs that were cut short back when it stops, and claims no more', async () => {
  const bench = await openRunBench();
  const { attempts, runner } = manualRunner();
  const queue = await bench.start({ concurrency: 1, attempts: 1 }, { runner });
  const [first = '', second = ''] = await recordRuns(bench.deliveryLog, { runs: 2 });
  await expect.poll(() => attempts.length).toBe(1);
  await queue.stop();
  expect(await bench.store.deliveries.findRun(first)).toMatchObject({
    state: 'queued',
    attempts: 1,
    error: 'stopped',
  });
  expect(await bench.store.deliveries.findRun(second)).toMatchObject({ state: 'queued', attempts: 0 });

  queue.wake();
  await bench.start({});
  await runThatIs(bench, first, { state: 'succeeded', attempts: 2 });
  await runThatIs(bench, second, { state: 'succeeded', attempts: 1 });
  expect(attempts).toHaveLength(1);
});

test('records a result once the log can be written again', async () => {
  const bench = await openRunBench();
  let failures = 1;
  const deliveryLog = {
    ...bench.deliveryLog,
    finishRun: (result: Parameters<typeof bench.deliveryLog.finishRun>[0]) =>
      failures-- > 0
        ? Promise.reject(new DeliveryLogError('failed', 'the disk is full'))
        : bench.deliveryLog.finishRun(result),
  };
  await bench.start({}, { deliveryLog });
  const id = await recordRun(bench.deliveryLog);
  await runThatIs(bench, id, { state: 'succeeded', attempts: 1 });
});

test('executes what a killed daemon left running, under the same ids', async () => {
  const directory = temporaryDirectory();
  const script = join(import.meta.dirname, 'run-queue-process.ts');
  const daemon = spawn(process.execPath, [script, directory], {
    env: { ...process.env, ...variablesOfHome(directory) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    daemon.kill('SIGKILL');
  });
  const [line] = await once(daemon.stdout, 'data');
  const ids: string[] = JSON.parse(String(line));
  // The command is at work: it has written its group's id.
  const groups = await Promise.all(ids.map(id => textOf(join(directory, 'runs', id, 'group'))));
  onTestFinished(() => {
    for (const group of groups) endGroup(Number(group));
  });
  daemon.kill('SIGKILL');
  await once(daemon, 'exit');

  const bench = await openRunBench(directory);
  expect(await statesOf(bench, ids)).toEqual(['running', 'running']);
  await bench.start({});
  for (const id of ids) await runThatIs(bench, id, { state: 'succeeded', attempts: 2 });
});

test.each([
  [{ kind: 'succeeded' }, 1, ['succeeded']],
  [{ kind: 'failed', reason: 'no' }, 3, ['failed']],
  [{ kind: 'retry', reason: 'no' }, 3, ['queued', 'queued', 'failed']],
] as const)('reports what became of a run after each attempt: %o', async (result, attempts, states) => {
  const bench = await openRunBench();
  const observed: unknown[] = [];
  const lines: { level: number; state?: string; attempt?: number }[] = [];
  const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) });
  const { runner } = watchedRunner(result);
  await bench.start(
    { attempts, ...quick },
    { runner, log, observe: ({ automation }, state) => observed.push([automation, state]) },
  );
  const id = await recordRun(bench.deliveryLog, {});
  const { automation } = await runThatIs(bench, id, { state: states.at(-1) });
  await expect.poll(() => observed).toEqual(states.map(state => [automation, state]));
  const levels = { succeeded: 30, queued: 40, failed: 50 };
  expect(lines.map(({ level, state, attempt }) => [level, state, attempt])).toEqual(
    states.map((state, index) => [levels[state], state, index + 1]),
  );
});

/** Kills the processes of a group that are left. */
function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
