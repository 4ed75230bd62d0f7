import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { Refusal } from '../../../schema/refusal.ts';
import type { Backend, OpenBackend } from '../../backend/backend.ts';
import { isOutputOpen, printExactly, printStatus } from '../../output.ts';
import { followMs, persist } from '../../rows/follow-rows.ts';
import { isFinished } from '../../rows/follow-runs.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs logs`. */
export function declareRunsLogs(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'logs',
    'print the output of a run',
    `
Prints the output of all attempts, byte for byte. With --follow, it goes on until the run has succeeded or failed. With
a store in PostgreSQL, the output of an attempt appears when the attempt ends.

Examples:
  hookmill runs logs run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs logs run_01jd3m8z9qk5v7w2x4y6abcdef --follow`,
  )
    .argument('<id>', 'ID of the run')
    .option('-f, --follow', 'also print output as it is written, until the run has ended')
    .action(async (id: string, { follow = false }: { follow?: boolean }, command: Command) => {
      const { backend } = await openBackend(command);
      if (follow) await followOutput(backend, id);
      else printExactly(await readOutput(backend, id));
    });
}

function readOutput(backend: Pick<Backend, 'call'>, id: string, from = 0): Promise<Uint8Array> {
  return backend.call('showRunOutput', { params: { run: id }, query: { from: String(from) } });
}

async function followOutput(backend: Pick<Backend, 'call'>, id: string): Promise<void> {
  let printed = 0;
  const look = async () => {
    // The state comes first: the output of a run that has ended is complete.
    const run = await backend.call('showRun', { params: { run: id } });
    const output = await readOutput(backend, id, printed).catch(ignoreMissing);
    if (output.length > 0) printExactly(output);
    printed += output.length;
    return run;
  };
  for (let run = await look(); isOutputOpen(); run = await persist(look)) {
    if (isFinished(run)) return printStatus(`The run has ${run.state}.`);
    await wait(followMs);
  }
}

/** A run that has not begun has no output yet. */
function ignoreMissing(error: unknown): Uint8Array {
  if (error instanceof Refusal && error.code === 'output-not-stored') return new Uint8Array();
  throw error;
}
