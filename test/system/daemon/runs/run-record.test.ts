import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { maskSecrets } from '../../../../daemon/runs/masking.ts';
import type { RunQueueOptions } from '../../../../daemon/runs/run-queue.ts';
import {
  RunRecord,
  type RunRecordDeps,
  toUnattempted,
  withOutput,
} from '../../../../daemon/runs/run-record.ts';
import type { AttemptResult } from '../../../../daemon/runs/runners/runner.ts';
import type { RunControl } from '../../../../schema/definitions/automation-definition.ts';
import { homeAt } from '../../../../store/home/home.ts';
import { openRunFiles } from '../../../../store/home/run-files.ts';
import type { Run } from '../../../../store/ports/delivery-log.ts';
import type { RunFiles } from '../../../../store/ports/run-files.ts';
import { canBecomeOthers } from '../../../support/privilege.ts';
import { recordRun } from './record-runs.ts';
import {
  enterable,
  nodeCommand,
  openDefaultRunner,
  openRunBench,
  runSettings,
  temporaryDirectory,
} from './run-samples.ts';

const run = `run_${'0'.repeat(26)}`;

async function openFiles() {
  const runFiles = openRunFiles(homeAt(temporaryDirectory()));
  await runFiles.prepare(run, 'Act.', { payload: Buffer.from('{}'), headers: {} });
  return { runFiles, file: runFiles.locateOutput(run) };
}

/** Keeps the output of an attempt that ends with a result. */
function keep(
  runFiles: Pick<RunFiles, 'appendOutput'>,
  text: string,
  result: AttemptResult,
  attempts = 1,
): Promise<AttemptResult> {
  const deps = { runFiles, nowMs: () => 0 } as unknown as RunRecordDeps;
  const attempt = { id: run, attempts } as Run;
  const options = {
    nowMs: 0,
    bytesMax: 4,
    onLost: (_: AttemptResult, error: unknown) => toUnattempted(error),
  };
  const record = new RunRecord(attempt, maskSecrets([]), deps);
  return withOutput(record, attempt, options, async output => {
    const stream = output.openStream();
    for (const part of text.match(/../g) ?? []) await stream.write(Buffer.from(part));
    return result;
  });
}

const [first, second] = [1, 2].map(n => `[hookmill: attempt ${n} at 1970-01-01T00:00:00.000Z]`);

test('keeps the attempts of a run one after the other, each with how it ended', async () => {
  const { runFiles, file } = await openFiles();
  await keep(runFiles, 'abcd', { kind: 'retry', reason: 'it failed' });
  await keep(runFiles, '', { kind: 'succeeded' }, 2);
  // What just fits is not called cut.
  expect(readFileSync(file, 'utf8')).toBe(
    `${first}\nabcd\n[hookmill: it failed]\n${second}\n[hookmill: succeeded]\n`,
  );
});

test('says that an attempt succeeded though something is missing', async () => {
  const { runFiles, file } = await openFiles();
  const result = { kind: 'succeeded', reason: 'not all artifacts were kept' } as const;
  expect(await keep(runFiles, '', result)).toEqual(result);
  expect(readFileSync(file, 'utf8')).toContain('[hookmill: succeeded, but not all artifacts were kept]\n');
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

test('output that cannot be stored is not the result of a command: it is executed again', async () => {
  const { runFiles, file } = await openFiles();
  mkdirSync(file);
  for (const result of [{ kind: 'succeeded' }, { kind: 'retry', reason: 'it failed' }] as const) {
    const reason = 'the run could not be executed (EISDIR)';
    expect(await keep(runFiles, 'ab', result)).toEqual({ kind: 'unattempted', reason });
  }
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

describe('the result of a command', () => {
  /** Makes one run of a command that leaves these artifacts. */
  async function leave(artifacts: Readonly<Record<string, string>>, control: RunControl = {}, more = '') {
    const bench = await openRunBench();
    const observed: unknown[] = [];
    const source = `import fs from 'node:fs'; fs.mkdirSync('artifacts');
      for (const [name, text] of Object.entries(${JSON.stringify(artifacts)})) fs.writeFileSync('artifacts/' + name, text);
      ${more}`;
    const observe: RunQueueOptions['observe'] = (_, state, usage) => void observed.push([state, usage]);
    await bench.start({ runner: nodeCommand(source), attempts: 1 }, { observe });
    const id = await recordRun(bench.deliveryLog, { control });
    await expect.poll(() => observed.length).toBe(1);
    return { run: await bench.store.deliveries.findRun(id), observed };
  }

  const result = {
    message: 'Fixed it',
    link: 'https://git.example/7',
    ...{ costUsd: 0.25, inputTokens: 10, outputTokens: 2, turns: 3 },
  };
  const { message: _, link: __, ...usage } = result;

  test('is its result.json, of which other keys are ignored', async () => {
    const { run, observed } = await leave({ 'result.json': JSON.stringify({ ...result, session: 'x' }) });
    expect(run).toMatchObject({ state: 'succeeded', report: { ...result, count: 1 } });
    expect(run?.report).not.toHaveProperty('session');
    expect(observed).toEqual([['succeeded', usage]]);
  });

  test('is also taken of an attempt that failed', async () => {
    const { run, observed } = await leave(
      { 'result.json': JSON.stringify(result) },
      {},
      'process.exitCode = 3;',
    );
    expect(run).toMatchObject({
      ...{ state: 'failed', error: 'the command exited with status 3' },
      report: { message: 'Fixed it', costUsd: 0.25 },
    });
    expect(observed).toEqual([['failed', usage]]);
  });

  test.each([
    ['a cost in quotes', '{"costUsd": "0.2"}', 'result.json was not taken, because its costUsd is not valid'],
    [
      'a script for a link',
      '{"link": "javascript:alert(1)"}',
      'result.json was not taken, because its link is not valid',
    ],
    ['a list', '[1]', 'result.json was not taken, because it is not a JSON object'],
    ['half an object', '{"a":', 'result.json was not taken, because it is not a JSON object'],
    [
      'too much',
      `{"a": "${'b'.repeat(65_536)}"}`,
      'result.json was not read, because it has more than 64 KiB',
    ],
  ])('does not fail a run whose result.json is %s, and says what is wrong', async (_, text, error) => {
    const { run, observed } = await leave({ 'result.json': text });
    expect(run).toMatchObject({ state: 'succeeded', error });
    expect(run).not.toHaveProperty('report');
    expect(observed).toEqual([['succeeded', undefined]]);
  });

  test('is a failure without an artifact that the automation requires, whatever the exit status', async () => {
    const control = { requires: ['answer.md', 'log.txt', 'plan.md'] };
    const { run } = await leave({ 'log.txt': '' }, control);
    const error =
      'the command exited with status 0, but left no artifact answer.md and no plan.md; was a tool refused?';
    expect(run).toMatchObject({ state: 'failed', error });
    const left = await leave({ 'answer.md': '', 'log.txt': '', 'plan.md': '' }, control);
    expect(left.run).toMatchObject({ state: 'succeeded' });
  });
});
