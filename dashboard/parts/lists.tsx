import type { ComponentChildren } from 'preact';
import { ProblemNotice } from './problem-notice.tsx';

interface EmptyProperties {
  readonly title: string;
  readonly children?: ComponentChildren;
}

interface WaitingProperties {
  readonly error: unknown;
  readonly reload: () => void;
  readonly what: string;
}

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

/** Stands in for content that is still loading, or that failed to load. */
export function Waiting({ error, reload, what }: WaitingProperties) {
  if (error !== undefined) return <ProblemNotice error={error} retry={reload} />;
  return (
    <p class="waiting" role="status">
      Loading {what}…
    </p>
  );
}

/** Stands in for a list without rows. */
export function Empty({ title, children }: EmptyProperties) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
