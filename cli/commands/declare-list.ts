import type { GlobalOptions } from '../global-options.ts';
import { printData } from '../output.ts';
import { completeCommands } from '../render/own-commands.ts';
import { renderTable } from '../render/render-table.ts';
import type { CliCommand, DeclareCommand } from './cli-command.ts';

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
