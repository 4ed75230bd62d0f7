import { type Command, CommanderError } from 'commander';
import { CommandError } from '../../cli/exit-status.ts';
import { createProgram } from '../../cli/main.ts';

/**
 * Parses the words after `hookmill` as the program does, and returns the error; undefined if there is none. No command
 * runs. Asking for help or the version is not an error.
 */
export function parseHookmill(
  words: string | readonly string[],
): { code: string; message: string } | undefined {
  const argv = typeof words === 'string' ? words.split(' ') : words;
  try {
    inertProgram().parse([...argv], { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return { code: 'value', message: error.message };
    if (!(error instanceof CommanderError)) throw error;
    if (argv.length > 0 && error.exitCode === 0) return undefined;
    return { code: error.code, message: error.message };
  }
}

/** Every command of a program with its full name, the program itself first; hidden ones are left out. */
export function allCommands(command: Command, name = 'hookmill'): readonly (readonly [string, Command])[] {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter(one => one.name() !== 'help');
  return [[name, command], ...below.flatMap(one => allCommands(one, `${name} ${one.name()}`))];
}

function inertProgram(): Command {
  const program = createProgram();
  for (const [, command] of allCommands(program)) {
    // A group has neither options nor an action, but `reconcile` is a command as well.
    const isGroup = command.commands.length > 0 && (!command.parent || command.options.length === 0);
    if (!isGroup) command.action(() => undefined);
    command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  }
  return program;
}
