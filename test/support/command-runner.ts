import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { CommandGiven, CommandResult } from './command-process.ts';

const script = join(import.meta.dirname, 'command-process.ts');

let runner: ChildProcess | undefined;
let isBusy = false;

/**
 * Runs a command in a process that runs the commands of a whole test file: it loads the program once, which takes ten
 * times as long as a command. Returns undefined if that process is running a command.
 */
export async function runCommand(given: CommandGiven): Promise<CommandResult | undefined> {
  if (isBusy) return undefined;
  isBusy = true;
  runner ??= startRunner();
  const ending = new AbortController();
  const { signal } = ending;
  try {
    const ended = once(runner, 'exit', { signal }).then(([status]) => {
      throw new Error(`the process of the commands ended with ${status}: ${given.args.join(' ')}`);
    });
    runner.send(given);
    const [result] = (await Promise.race([once(runner, 'message', { signal }), ended])) as [CommandResult];
    return result;
  } finally {
    ending.abort();
    isBusy = false;
  }
}

function startRunner(): ChildProcess {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, NO_COLOR: '1' };
  return fork(script, {
    env,
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}
