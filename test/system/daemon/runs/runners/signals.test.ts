import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { untilAborted } from '../../../../../daemon/background-work.ts';
import { attemptRun } from '../../../../../daemon/runs/run-attempt.ts';
import { startReceiver } from '../../../../support/loopback-server.ts';
import { recordRun } from '../record-runs.ts';
import { nodeCommand, openDefaultRunner, openRunBench, runSettings } from '../run-samples.ts';

// A listener that stays keeps what it refers to in memory until the daemon stops: of a command about 30 KB for each run.
test('an attempt leaves nothing on the signal that ends it', async () => {
  const { url } = await startReceiver((_, response) => response.writeHead(202).end());
  const runners = {
    command: nodeCommand('process.stdin.resume()'),
    failing: { kind: 'command', argv: ['/there/is/no/such/program'] },
    http: { kind: 'http', url },
  };
  for (const [name, runner] of Object.entries(runners)) {
    const { store, deliveryLog } = await openRunBench();
    const run = await store.deliveries.findRun(await recordRun(deliveryLog));
    if (!run) throw new Error('no run');
    // As the queue makes it: of a signal that lives as long as the daemon.
    const signal = AbortSignal.any([new AbortController().signal]);
    const deps = { environment: { ...process.env }, store, deliveryLog, nowMs: Date.now };
    const result = await attemptRun(
      run,
      { name: 'triage', prompt: 'Act.' },
      {
        ...{ deliveryLog, runFiles: store.runFiles },
        runner: await openDefaultRunner(runSettings({ runner }), deps),
      },
      signal,
    );
    expect(result.kind, name).toBe(name === 'failing' ? 'retry' : 'succeeded');
    expect(getEventListeners(signal, 'abort'), name).toEqual([]);
  }
});

test('work that is waited for until a signal leaves nothing on it, whatever comes of it', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const stopping = new AbortController();
  const waiting = untilAborted(new Promise(() => undefined), stopping.signal);
  stopping.abort();
  expect(await waiting).toBeUndefined();
  expect(await untilAborted(Promise.reject(new Error('later')), stopping.signal)).toBeUndefined();
});
