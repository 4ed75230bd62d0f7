import { type ComponentChildren, type ComponentProps, Fragment } from 'preact';

/** A column of a table: its heading, and what its cells show. */
export interface Column<Row> {
  readonly head: string;
  /** `right` and `no-phone`. With `action`, the heading is only for screen readers. */
  readonly class?: string;
  /** Further classes of its cells, such as `t2`. */
  readonly look?: string;
  readonly cell: (row: Row) => ComponentChildren;
}

interface Properties<Row> {
  readonly columns: readonly (Column<Row> | false)[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly class?: string;
  /** The attributes of a row. */
  readonly rowOf?: (row: Row) => ComponentProps<'tr'>;
  /** A heading above the first of several rows with the same. */
  readonly groupOf?: (row: Row) => string;
}

interface SecProperties {
  readonly title: ComponentChildren;
  readonly isWrapped?: boolean;
  /** Links and buttons beside the title. */
  readonly children?: ComponentChildren;
}

/** The heading of a section. */
export function Sec({ title, isWrapped = false, children }: SecProperties) {
  return (
    <div class={isWrapped ? 'sec wrap' : 'sec'}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Table<Row>(properties: Properties<Row>) {
  const { rows, keyOf, class: className, rowOf, groupOf } = properties;
  const columns = properties.columns.filter(column => column !== false);
  return (
    <table class={className}>
      <thead>
        <tr>
          {columns.map(({ head, class: className = '' }) => (
            <th key={head} scope="col" class={className}>
              {className === 'action' ? <span class="unseen">{head}</span> : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => {
          const group = groupOf?.(row);
          const before = rows[index - 1];
          return (
            <Fragment key={keyOf(row)}>
              {group !== undefined && (!before || groupOf?.(before) !== group) && (
                <tr>
                  <th colSpan={columns.length} scope="rowgroup" class="day-mark">
                    {group}
                  </th>
                </tr>
              )}
              <tr {...rowOf?.(row)}>
                {columns.map(({ head, class: className = '', look = '', cell }) => (
                  <td key={head} class={`${className} ${look}`}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

/** A table of things with pages of their own: each row is one link, the `stretch` link in it. */
export function LinkTable<Row>({ class: className = '', ...properties }: Omit<Properties<Row>, 'rowOf'>) {
  return <Table class={`edge ${className}`} rowOf={goes} {...properties} />;
}

const goes = () => ({ class: 'go' });

interface CountProperties {
  readonly count: number;
  /** The class of a count that is not 0. */
  readonly tone?: string;
}

/** A number in a table: 0 is quiet. */
export function Count({ count, tone = '' }: CountProperties) {
  return <span class={count === 0 ? 't3' : tone}>{count.toLocaleString('en')}</span>;
}
