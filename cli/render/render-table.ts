import countColumns from 'fast-string-width';
import { printable } from '../../schema/text/printable.ts';
import { colours } from './colours.ts';
import { completeCommands, renderNextCommand } from './own-commands.ts';

/** Something for the user to do; `run` is a command line after `hookmill`. */
export interface Step {
  readonly say: string;
  readonly run?: string;
}

/** Rows in columns under a heading, two spaces apart. */
export function renderTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  return openTable(heading)(rows);
}

/** A table whose rows come little by little: the heading comes with the first ones, and columns only become wider. */
export function openTable(heading: readonly string[]): (rows: readonly (readonly string[])[]) => string {
  let widths = heading.map(() => 0);
  let above = [heading];
  return rows => {
    const cells = [...above, ...rows].map(row => row.map(printable));
    above = [];
    widths = widths.map((width, column) =>
      Math.max(width, ...cells.map(row => countColumns(row[column] ?? ''))),
    );
    const renderRow = (row: readonly string[]) =>
      row
        .map((cell, column) => padColumns(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd();
    return `${cells.map(renderRow).join('\n')}\n`;
  };
}

/** Names with their values, one below the other. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => countColumns(name)));
  return `${fields.map(([name, value]) => `${padColumns(name, width)}  ${printable(value)}`).join('\n')}\n`;
}

function padColumns(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - countColumns(text)));
}

/** Numbered steps, each command on a line of its own, ready to paste. `place`: options for the commands, if not the given ones. */
export function renderSteps(steps: readonly Step[], place?: readonly string[]): string {
  return steps
    .map(({ say, run }, index) => {
      const text = completeCommands(say, place).replaceAll('\n', '\n     ');
      return `  ${index + 1}. ${text}\n${run ? `       ${colours.bold(renderNextCommand(run, place))}\n` : ''}`;
    })
    .join('');
}
