import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendOutput } from '../../../daemon/runs/output-log.ts';
import { temporaryDirectory } from './run-samples.ts';

test('keeps the attempts of a run one after the other, each with how it ended', async () => {
  const directory = temporaryDirectory();
  const first = appendOutput(directory, 'attempt 1', 100);
  first.write(Buffer.from('one'));
  await first.close({ kind: 'retry', reason: 'it failed' });
  await appendOutput(directory, 'attempt 2', 100).close({ kind: 'succeeded' });
  expect(readFileSync(join(directory, 'output.log'), 'utf8')).toBe(
    '[hookmill: attempt 1]\none\n[hookmill: it failed]\n[hookmill: attempt 2]\n[hookmill: succeeded]\n',
  );
});

test('does not call output cut that just fits', async () => {
  const directory = temporaryDirectory();
  const output = appendOutput(directory, 'attempt 1', 4);
  output.write(Buffer.from('ab'));
  output.write(Buffer.from('cd'));
  await output.close({ kind: 'succeeded' });
  expect(readFileSync(join(directory, 'output.log'), 'utf8')).toBe(
    '[hookmill: attempt 1]\nabcd\n[hookmill: succeeded]\n',
  );
});

test('says that output could not be kept, and leaves the result what it is', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'output.log'));
  const succeeded = appendOutput(directory, 'attempt 1', 100);
  const failed = appendOutput(directory, 'attempt 2', 100);
  expect(await succeeded.close({ kind: 'succeeded' })).toEqual({
    kind: 'succeeded',
    reason: 'its output could not be kept (EISDIR)',
  });
  expect(await failed.close({ kind: 'retry', reason: 'it failed' })).toEqual({
    kind: 'retry',
    reason: 'it failed; its output could not be kept (EISDIR)',
  });
});
