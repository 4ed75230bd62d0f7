import { createSecretKey, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openCallbacks } from '../../../../daemon/runs/callbacks.ts';
import { ReceiverReports } from '../../../../daemon/runs/receiver-reports.ts';
import { RunCancelled } from '../../../../daemon/runs/runners/runner.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import { startLoopbackServer } from '../../../support/loopback-server.ts';
import { recordRun, recordRuns } from './record-runs.ts';
import {
  isAlive,
  nodeCommand,
  openDefaultRunner,
  openRunBench,
  runSettings,
  runThatIs,
  textOf,
} from './run-samples.ts';

const cancel = { by: 'ada', atMs: 1 };

/** A command that ignores SIGTERM, with a child that does too. Both write where they are. */
const stubborn = `import { spawn } from 'node:child_process';
  import { writeFileSync } from 'node:fs';
  process.on('SIGTERM', () => writeFileSync('told', 'SIGTERM'));
  const child = spawn('sh', ['-c', 'trap "" TERM; while :; do sleep 600; done']);
  writeFileSync('pids', process.pid + ' ' + child.pid);
  setInterval(() => {}, 1_000);`;

const isGone = (pids: string) => expect.poll(() => pids.split(' ').some(pid => isAlive(pid))).toBe(false);

test('cancelling a running run ends its command with all of its processes, and makes no further attempt', async () => {
  const bench = await openRunBench();
  const ends: string[] = [];
  await bench.start({ runner: nodeCommand(stubborn) }, { observe: (_, state) => ends.push(state) });
  const id = await recordRun(bench.deliveryLog);
  const directory = join(bench.home.runsDirectory, id);
  const pids = await textOf(join(directory, 'pids'));
  const beganMs = performance.now();
  expect(await bench.deliveryLog.cancelRun({ id, cancel })).toBe('requested');
  expect(await textOf(join(directory, 'told'))).toBe('SIGTERM');
  const run = await runThatIs(bench, id, { state: 'cancelled', attempts: 1, cancel });
  expect(run).not.toHaveProperty('error');
  // It had its ten seconds.
  expect(performance.now() - beganMs).toBeGreaterThan(9_900);
  await isGone(pids);
  expect(ends).toEqual(['cancelled']);
});

test('cancelled runs start never, also those that wait for a place, their next attempt or a lane', async () => {
  const bench = await openRunBench();
  const source = `import { writeFileSync } from 'node:fs';
    writeFileSync('began', 'yes');
    if (process.env.HOOKMILL_AUTOMATION === 'triage') process.exit(1);`;
  const settings = { runner: nodeCommand(source), backOff: { firstSeconds: 600, maxSeconds: 600 } };
  const flow = { order: { lane: 'lane', hold: false } };
  const [retried, behind, last] = [
    await recordRun(bench.deliveryLog, { flow }),
    await recordRun(bench.deliveryLog, { flow }),
    await recordRun(bench.deliveryLog, { flow }),
  ];
  await bench.start({ ...settings, concurrency: 1 });
  await runThatIs(bench, retried, { state: 'queued', attempts: 1 });
  expect(await bench.deliveryLog.cancelRun({ id: behind, cancel })).toBe('cancelled');
  expect(await bench.deliveryLog.cancelRun({ id: retried, cancel })).toBe('requested');
  // The lane goes on after both.
  await runThatIs(bench, last, { state: 'queued', attempts: 1 });
  await runThatIs(bench, retried, { state: 'cancelled', attempts: 1 });
  await runThatIs(bench, behind, { state: 'cancelled', attempts: 0 });
});

test('an attempt that succeeds before the command is told stays a success', async () => {
  const bench = await openRunBench();
  const begun = Promise.withResolvers<AbortSignal>();
  const told = Promise.withResolvers<void>();
  await bench.start(
    {},
    {
      runner: async (_, signal) => {
        signal.addEventListener('abort', () => told.resolve());
        begun.resolve(signal);
        await told.promise;
        return { kind: 'succeeded' };
      },
    },
  );
  const id = await recordRun(bench.deliveryLog);
  const signal = await begun.promise;
  await bench.deliveryLog.cancelRun({ id, cancel });
  await runThatIs(bench, id, { state: 'succeeded' });
  expect(signal.reason).toBeInstanceOf(RunCancelled);
});

/** A receiver that goes on with each run, and is told of those that are cancelled. */
async function startReceiver(answers: { readonly cancel: number }) {
  const told: { readonly headers: object; readonly body: unknown }[] = [];
  const callbacks: string[] = [];
  const origin = await startLoopbackServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url === '/cancel') {
      told.push({ headers: request.headers, body: JSON.parse(body.toString()) });
      response.writeHead(answers.cancel).end();
      return;
    }
    callbacks.push(String(request.headers['hookmill-callback']));
    response.writeHead(202, { 'hookmill-callback': 'accepted' }).end();
  });
  return { origin, told, callbacks };
}

test.for([
  { status: 204, error: undefined },
  {
    status: 500,
    error: 'the receiver could not be told that the run was cancelled: the receiver answered 500',
  },
])(
  'the receiver of a cancelled run is told once ($status), and may report no more',
  async ({ status, error }) => {
    const bench = await openRunBench();
    const { origin, told, callbacks } = await startReceiver({ cancel: status });
    const environment = { ...process.env, RECEIVER_TOKEN: 'a secret' };
    const settings = runSettings({
      runner: {
        ...{ kind: 'http', url: `${origin}/`, tokenFromEnvironment: 'RECEIVER_TOKEN' },
        idempotencyHeader: 'X-Once',
        callback: { cancelUrl: `${origin}/cancel` },
      },
    });
    const urls = openCallbacks([createSecretKey(randomBytes(32))], () => 'http://hookmill.example.com');
    const created = await openDefaultRunner(settings, {
      environment,
      store: bench.store,
      deliveryLog: bench.deliveryLog,
      nowMs: Date.now,
      openCallbacks: () => urls,
    });
    const queue = await bench.start({}, { runner: created });
    const id = await recordRun(bench.deliveryLog);
    await runThatIs(bench, id, { state: 'running', waitsUntilMs: expect.any(Number) as number });
    await bench.deliveryLog.cancelRun({ id, cancel });
    const run = await runThatIs(bench, id, { state: 'cancelled', attempts: 1 });
    expect(run.error).toBe(error);
    expect(told).toMatchObject([
      {
        headers: { authorization: 'Bearer a secret', 'hookmill-run-id': id, 'hookmill-fencing-token': '2' },
        body: { run: id, delivery: run.deliveryId, automation: 'triage', factory: 'default', attempt: 1 },
      },
    ]);
    // A receiver that compares it would take the cancel for the run again.
    expect(told[0]?.headers).not.toHaveProperty('x-once');
    const reports = new ReceiverReports({
      ...{ deliveryLog: bench.deliveryLog, reader: bench.store.deliveries, runFiles: bench.store.runFiles },
      settle: (reported: Run, result) => queue.settle(reported, result),
      ...{ log: pino({ level: 'silent' }), nowMs: Date.now, openMasking: async () => undefined },
    });
    onTestFinished(() => reports.stop());
    const attempt = urls.findAttempt(new URL(callbacks[0] ?? '').pathname);
    expect(attempt && (await reports.take(attempt, { state: 'succeeded' }))).toBe('over');
  },
);

test('a full queue still cancels, and a paused automation starts nothing until it is resumed', async () => {
  const bench = await openRunBench();
  const { deliveryLog } = bench;
  const source = `import { writeFileSync } from 'node:fs';
    writeFileSync('pids', String(process.pid));
    setInterval(() => {}, 1_000);`;
  await bench.start({ runner: nodeCommand(source), concurrency: 1 });
  const [busy = '', next = ''] = await recordRuns(deliveryLog, { runs: 2 });
  const pids = await textOf(join(bench.home.runsDirectory, busy, 'pids'));
  await deliveryLog.pauseAutomation({
    factory: 'default',
    automation: 'triage',
    by: 'ada',
    atMs: Date.now(),
  });
  await deliveryLog.cancelRun({ id: busy, cancel });
  await runThatIs(bench, busy, { state: 'cancelled' });
  await isGone(pids);
  await runThatIs(bench, next, { state: 'queued', waitsFor: 'paused' });
  await deliveryLog.resumeAutomation({ factory: 'default', automation: 'triage', nowMs: Date.now() });
  await textOf(join(bench.home.runsDirectory, next, 'pids'));
  await deliveryLog.cancelRun({ id: next, cancel });
  await runThatIs(bench, next, { state: 'cancelled' });
});
