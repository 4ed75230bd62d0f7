import type { ComponentChildren } from 'preact';

interface Properties {
  /** How its cells look: as a list of things, or as numbers. */
  readonly kind?: 'list' | 'numbers';
  readonly columns: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with a heading for each column. */
export function ListTable({ kind = 'list', columns, children }: Properties) {
  return (
    <table class={kind}>
      <thead>
        <tr>
          {columns.map(column => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
