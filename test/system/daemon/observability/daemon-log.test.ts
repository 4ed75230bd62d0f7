import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../support/eventually.ts';

const script = fileURLToPath(new URL('./log-writer.ts', import.meta.url));

test('keeps little of what nobody reads, and says how many lines it dropped', async () => {
  const writer = await startWriter();
  expect(writer.grownBytes).toBeLessThan(64 * 1024 * 1024);
  let read = '';
  writer.process.stderr.setEncoding('utf8').on('data', text => {
    read += text;
  });
  await eventually(() => read.includes('dropped log lines'));
  writer.process.stdin.end();
  await once(writer.process, 'close');
  const lines = read
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const dropped = lines.flatMap(({ lines = 0 }) => lines).reduce((sum, count) => sum + count, 0);
  expect(dropped).toBeGreaterThan(0);
  expect(lines.filter(({ n }) => n !== undefined)).toHaveLength(100_000 - dropped);
  expect(lines.at(-1)).toMatchObject({ msg: 'the last line' });
});

test('closes though nobody reads it', async () => {
  const writer = await startWriter();
  writer.process.stdin.end();
  const [code] = await once(writer.process, 'exit');
  expect({ code, stdout: writer.stdout() }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/closed/),
  });
});

test('ends after a fatal line whose reader is gone', async () => {
  const writer = await startWriter('fatal');
  writer.process.stderr.destroy();
  writer.process.stdin.end();
  const [code] = await once(writer.process, 'exit');
  expect({ code, stdout: writer.stdout() }).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/closed/),
  });
});

interface Writer {
  readonly process: ChildProcessWithoutNullStreams;
  /** The memory that it took while it logged. */
  readonly grownBytes: number;
  stdout(): string;
}

/** Starts a process that logs much, and one more line of a level when its standard input ends. */
async function startWriter(level = 'info'): Promise<Writer> {
  const child = spawn(process.execPath, [script, level]);
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text;
  });
  await eventually(() => stdout.includes('\n'));
  return { process: child, grownBytes: Number.parseInt(stdout, 10), stdout: () => stdout };
}
