import type { Command } from 'commander';

/** Adds a subcommand that accepts the global options too. `help` follows the options in its help. */
export function addCommand(parent: Command, name: string, description: string, help: string): Command {
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', help)
    .configureHelp({ showGlobalOptions: true });
}
