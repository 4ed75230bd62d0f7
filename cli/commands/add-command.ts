import type { Command } from 'commander';
import type { OpenBackend } from '../backend/backend.ts';

/** Adds one command to its parent: its name, arguments, options, help and action. */
export type DeclareCommand = (parent: Command, openBackend: OpenBackend) => Command;

/** Adds a subcommand that accepts the global options too. `help` follows the options in its help. */
export function addCommand(parent: Command, name: string, description: string, help: string): Command {
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', help)
    .configureHelp({ showGlobalOptions: true });
}
