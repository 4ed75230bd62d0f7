import countColumns from 'fast-string-width';
import { printable } from '../../schema/printable.ts';

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
