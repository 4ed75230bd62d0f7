import { printable } from './printable.ts';

/** Rows in columns under a heading, two spaces apart. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heading, ...rows].map(row => row.map(printable));
  const widths = heading.map((_, column) => Math.max(...cells.map(row => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return `${cells.map(line).join('\n')}\n`;
}

/** Names with their values below each other. */
export function fieldList(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return `${fields.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`).join('\n')}\n`;
}
