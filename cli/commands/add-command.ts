import type { Command } from 'commander';
import { findNearest } from '../../schema/text/suggestion.ts';

/** Adds a subcommand that accepts the global options too. `help` follows the options in its help. */
export function addCommand(parent: Command, name: string, description: string, help: string): Command {
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', help)
    .configureHelp({ showGlobalOptions: true });
}

/** Adds `help`, which prints what `--help` of a command of the group prints. Commander's own takes only one name. */
export function addHelpCommand(group: Command): void {
  group
    .command('help')
    .description('display help for command')
    .argument('[command...]')
    .action((names: readonly string[]) => names.reduce(findSubcommand, group).help());
}

function findSubcommand(group: Command, name: string): Command {
  const found = group.commands.find(command => command.name() === name);
  if (found) return found;
  const visible = group.createHelp().visibleCommands(group);
  const near = findNearest(
    name,
    visible.map(command => command.name()),
  );
  return group.error(
    `error: unknown command '${name}'${near === undefined ? '' : `\n(Did you mean ${near}?)`}`,
  );
}
