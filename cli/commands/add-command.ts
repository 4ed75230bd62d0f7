import type { Command } from 'commander';

/** A subcommand that takes the global options as well. */
export function addCommand(parent: Command, name: string, description: string, help?: string): Command {
  const command = parent.command(name).description(description);
  if (help) command.addHelpText('after', help);
  command.configureHelp({ showGlobalOptions: true });
  return command;
}
