import { type Argument, Command, InvalidArgumentError, type Option } from 'commander';
import { didYouMean, findNearest, joinWithOr } from '../../schema/text/suggestion.ts';
import type { GlobalOptions } from '../global-options.ts';
import { printData } from '../output.ts';
import { completeCommands } from '../render/own-commands.ts';
import { renderTable } from '../render/render-table.ts';

/** Adds what belongs to one command: its text, arguments, options and action, or its subcommands. */
export type DeclareCommand = (command: CliCommand) => void;

/** A command whose parts are declared in a chain. Its subcommands are too. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  override addOption(option: Option): this {
    suggestChoices(option);
    return super.addOption(option);
  }

  override addArgument(argument: Argument): this {
    suggestChoices(argument);
    return super.addArgument(argument);
  }

  /** Sets the help: the first line of the text describes the command, and the rest follows its options. */
  explain(text: string): this {
    const [description = ''] = text.split('\n', 1);
    const rest = text.slice(description.length + 1);
    // Its help shows the global options, which it accepts too.
    this.description(description).configureHelp({ showGlobalOptions: true });
    return rest === '' ? this : this.addHelpText('after', rest);
  }

  /** Adds commands by their names, and `help`. Without a subcommand, the group does what its default one does. */
  subcommands(commands: Readonly<Record<string, DeclareCommand>>, defaultName?: string): this {
    for (const [name, declare] of Object.entries(commands)) {
      declare(this.command(name, { isDefault: name === defaultName }));
    }
    return this.addHelp();
  }

  /** Adds `help`, which prints what `--help` of one of its subcommands prints. Commander's own takes only one name. */
  addHelp(): this {
    this.command('help')
      .description('display help for command')
      .argument('[command...]')
      .action((names: readonly string[]) => names.reduce<Command>(findSubcommand, this).help());
    return this;
  }
}

/** Lets a part with choices suggest the nearest choice when it refuses a value. */
function suggestChoices(part: Option | Argument): void {
  const { argChoices: choices } = part;
  if (!choices) return;
  part.argParser(text => {
    if (choices.includes(text)) return text;
    const near = didYouMean(text, choices);
    throw new InvalidArgumentError(
      `${near === undefined ? '' : `D${near.slice(1)} `}Use ${joinWithOr(choices)}.`,
    );
  });
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

interface List<Row> {
  readonly description: string;
  /** Reads the rows, which `-o json` prints as they are. */
  readonly read: (command: CliCommand) => Promise<readonly Row[]>;
  /** The sentence to print if there are no rows. */
  readonly empty: string;
  readonly heading: readonly string[];
  readonly toCells: (row: Row) => readonly string[];
}

/** Declares the `list` of a group that prints all rows in a table. */
export function declareList<Row>({ description, read, empty, heading, toCells }: List<Row>): DeclareCommand {
  return command => {
    const example = `hookmill ${command.parent?.name()} list`;
    command
      .explain(`${description}\n\nExamples:\n  ${example}\n  ${example} -o json`)
      .action(async (_, command: CliCommand) => {
        const rows = await read(command);
        const { output }: GlobalOptions = command.optsWithGlobals();
        printData(output, rows, () =>
          rows.length === 0 ? `${completeCommands(empty)}\n` : renderTable(heading, rows.map(toCells)),
        );
      });
  };
}
