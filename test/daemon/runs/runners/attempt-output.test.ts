import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeOutput } from '../../../../daemon/runs/runners/attempt-output.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { openRunFiles } from '../../../../store/home/run-files.ts';
import { canBecomeOthers } from '../../../support/privilege.ts';
import { recordRun } from '../record-runs.ts';
import {
  enterable,
  openDefaultRunner,
  openRunBench,
  runSettings,
  temporaryDirectory,
} from '../run-samples.ts';

const run = `run_${'0'.repeat(26)}`;

async function openFiles() {
  const runFiles = openRunFiles(homeAt(temporaryDirectory()));
  await runFiles.prepare(run, 'Act.', { payload: Buffer.from('{}'), headers: {} });
  return { runFiles, file: runFiles.locateOutput(run) };
}

test('keeps the attempts of a run one after the other, each with how it ended', async () => {
  const { runFiles, file } = await openFiles();
  const first = runFiles.appendOutput(run, 'attempt 1', 100);
  await first.write(Buffer.from('one'));
  await closeOutput(first, { kind: 'retry', reason: 'it failed' });
  await closeOutput(runFiles.appendOutput(run, 'attempt 2', 100), { kind: 'succeeded' });
  expect(readFileSync(file, 'utf8')).toBe(
    '[hookmill: attempt 1]\none\n[hookmill: it failed]\n[hookmill: attempt 2]\n[hookmill: succeeded]\n',
  );
});

test('says that an attempt succeeded though something is missing', async () => {
  const { runFiles, file } = await openFiles();
  const result = { kind: 'succeeded', reason: 'not all artifacts were kept' } as const;
  expect(await closeOutput(runFiles.appendOutput(run, 'attempt 1', 100), result)).toBe(result);
  expect(readFileSync(file, 'utf8')).toContain('[hookmill: succeeded, but not all artifacts were kept]\n');
});

test('does not call output cut that just fits', async () => {
  const { runFiles, file } = await openFiles();
  const output = runFiles.appendOutput(run, 'attempt 1', 4);
  await output.write(Buffer.from('ab'));
  await output.write(Buffer.from('cd'));
  await closeOutput(output, { kind: 'succeeded' });
  expect(readFileSync(file, 'utf8')).toBe('[hookmill: attempt 1]\nabcd\n[hookmill: succeeded]\n');
});

test('output that is not kept takes no memory, however much it is', async () => {
  const { runFiles } = await openFiles();
  const output = runFiles.appendOutput(run, 'attempt 1', 4);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  for (let n = 0; n < 1_000; n++) {
    await output.write(Buffer.alloc(64 * 1024));
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }
  await output.close('succeeded');
  expect(most).toBeLessThan(1024 * 1024);
});

test('asks for no more output while much of it waits to be written', async () => {
  const { runFiles, file } = await openFiles();
  const output = runFiles.appendOutput(run, 'attempt 1', 64 * 1024 * 1024);
  for (let n = 1; n <= 8; n++) {
    await output.write(Buffer.alloc(2 * 1024 * 1024));
    expect(statSync(file).size).toBeGreaterThan(n * 2 * 1024 * 1024);
  }
  await output.close('succeeded');
});

test('says that output could not be stored, and keeps the result', async () => {
  const { runFiles, file } = await openFiles();
  mkdirSync(file);
  const succeeded = runFiles.appendOutput(run, 'attempt 1', 100);
  const failed = runFiles.appendOutput(run, 'attempt 2', 100);
  expect(await closeOutput(succeeded, { kind: 'succeeded' })).toEqual({
    kind: 'succeeded',
    reason: 'output could not be kept (EISDIR)',
  });
  expect(await closeOutput(failed, { kind: 'retry', reason: 'it failed' })).toEqual({
    kind: 'retry',
    reason: 'it failed; output could not be kept (EISDIR)',
  });
});

test.runIf(process.platform === 'linux').for([
  { kind: 'http', url: 'http://127.0.0.1:9/' },
  { kind: 'command', argv: ['true'], user: 'nobody' },
] as const)('attempts of the runner %j that cannot begin leave no file open', async (settings, { skip }) => {
  skip('user' in settings && !canBecomeOthers, 'needs root');
  const { home, store, deliveryLog } = await openRunBench();
  const directory = enterable();
  const deps = { environment: process.env, store, deliveryLog, nowMs: Date.now };
  const runner = await openDefaultRunner(runSettings({ runner: settings, directory }), deps);
  const found = await store.deliveries.findRun(await recordRun(deliveryLog));
  if (!found) throw new Error('the run is gone');
  const event = { payload: Buffer.from('{}'), headers: {} };
  // Somebody removed the run's directory, with the payloads that it gathered.
  const attempt = { run: found, directory: join(directory, 'gone'), gathered: 1, message: 'Act.', ...event };
  for (let n = 0; n < 20; n++) {
    await store.runFiles.prepare(found.id, 'Act.', event);
    await expect(runner.execute(attempt, new AbortController().signal)).rejects.toThrow();
  }
  const open = readdirSync('/proc/self/fd').map(descriptor => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return '';
    }
  });
  expect(open.filter(path => path.startsWith(home.runOutputsDirectory))).toEqual([]);
});
