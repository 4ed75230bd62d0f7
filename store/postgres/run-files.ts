import { readFile, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { LocalRunFiles } from '../home/run-files.ts';
import type { RunFiles, RunOutput } from '../ports/run-files.ts';
import { fileFailure } from '../ports/store-error.ts';
import type { Database } from './connection/database.ts';

/**
 * The files of runs: the directories are on this machine, and the output of each attempt is moved to the database when
 * the attempt ends, so that every replica can show it.
 */
export function openSharedRunFiles(local: LocalRunFiles, { run }: Pick<Database, 'run'>): RunFiles {
  const store = async (runId: string) => {
    const file = local.locateOutput(runId);
    const bytes = await readFile(file).catch(fileFailure('unreadable', file));
    await run(
      `INSERT INTO hookmill.run_outputs (run_id, day, bytes)
       VALUES ($1, floor(extract(epoch FROM now()) / 86400)::integer, $2)`,
      [runId, bytes],
    );
    await rm(file, { force: true });
  };
  return {
    ...local,
    locateOutput: () => undefined,
    appendOutput: (runId, heading, bytesMax) => {
      const output = local.appendOutput(runId, heading, bytesMax);
      return {
        ...output,
        close: async lastLine => output.close(lastLine).then(() => store(runId)),
      } satisfies RunOutput;
    },
    readOutput: async (runId, from = 0) => {
      const text =
        'SELECT seq, length(bytes) AS size FROM hookmill.run_outputs WHERE run_id = $1 ORDER BY seq';
      const attempts = await run<{ seq: number; size: number }>(text, [runId]);
      if (attempts.length === 0) return undefined;
      const size = attempts.reduce((sum, attempt) => sum + attempt.size, 0);
      return {
        size: Math.max(0, size - from),
        stream: Readable.from(readAttempts(run, runId, attempts, from)),
      };
    },
    remove: async runId => {
      await run('DELETE FROM hookmill.run_outputs WHERE run_id = $1', [runId]);
      await local.remove(runId);
    },
  };
}

async function* readAttempts(
  run: Database['run'],
  runId: string,
  attempts: readonly { readonly seq: number; readonly size: number }[],
  from: number,
): AsyncGenerator<Buffer> {
  const text =
    'SELECT substring(bytes FROM $3) AS bytes FROM hookmill.run_outputs WHERE run_id = $1 AND seq = $2';
  let skipped = from;
  for (const { seq, size } of attempts) {
    if (skipped < size)
      for (const { bytes } of await run<{ bytes: Buffer }>(text, [runId, seq, skipped + 1])) yield bytes;
    skipped = Math.max(0, skipped - size);
  }
}
