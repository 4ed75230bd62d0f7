import type { ComponentChildren } from 'preact';

interface Properties {
  readonly columns: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with a heading for each column. */
export function ListTable({ columns, children }: Properties) {
  return (
    <table class="list">
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
