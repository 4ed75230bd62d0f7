import { CommanderError } from 'commander';
import { ApiProblem } from '../schema/api/problems.ts';
import { Refusal } from '../schema/refusal.ts';
import { DeliveryLogError } from '../store/delivery-log-error.ts';
import { StoreError } from '../store/store-error.ts';
import { CommandError, exitStatus } from './exit-status.ts';
import { createProgram } from './program.ts';
import { printable } from './render/printable.ts';

/** Runs the command line of this process and sets its exit status. */
export async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', outputFailed);
  try {
    await createProgram().parseAsync(process.argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** A reader such as `head` may go before everything is written: the command's own exit status still holds. */
function outputFailed(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.exitCode = report(
    new CommandError(`the output cannot be written (${error.code})`, exitStatus.unexpected),
  );
  process.exit();
}

/** Tells the user what went wrong; gives the exit status. */
function report(error: unknown): number {
  // Commander has printed what it has to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.ok : exitStatus.usage;
  if (error instanceof CommandError) {
    if (error.message) process.stderr.write(`hookmill: ${printable(error.message)}\n`);
    return error.status;
  }
  if (error instanceof StoreError || error instanceof DeliveryLogError) {
    process.stderr.write(`hookmill: ${printable(error.message)}\n`);
    return exitStatus.problems;
  }
  if (error instanceof ApiProblem || error instanceof Refusal) {
    process.stderr.write(`hookmill: ${printable(problemText(error))}\n`);
    return exitStatus.problems;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`hookmill: unexpected failure: ${printable(message)}\n`);
  if (process.env.HOOKMILL_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  else process.stderr.write('Set HOOKMILL_DEBUG=1 to see where it happened.\n');
  return exitStatus.unexpected;
}

/** What a server refused, and what it says to do instead. */
function problemText({ message, parts: { mistakes = [], instead } }: ApiProblem | Refusal): string {
  const told = mistakes.map(mistake => mistake.message);
  return [[message, ...told].join(': '), ...(instead ? [instead.text] : [])].join('; ');
}
