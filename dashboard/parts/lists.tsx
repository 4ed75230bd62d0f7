import type { ComponentChildren } from 'preact';
import { ApiFailure } from '../api-answers.ts';
import { NotFound } from './not-found.tsx';
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
  /** How its cells look: as a list of things, as numbers, or as plain rows that lead nowhere. */
  readonly kind?: 'list' | 'numbers' | 'plain';
  /** Their headings, with a class. A heading with the class `action` is only for screen readers. */
  readonly columns: readonly (string | readonly [heading: string, className: string])[];
  /** The rows. */
  readonly children: ComponentChildren;
}

interface SecProperties {
  readonly title: ComponentChildren;
  readonly isWrapped?: boolean;
  /** What stands beside the title. */
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

const tableClasses = { list: 'edge', numbers: 'edge numbers', plain: '' } as const;

/** A table with a heading for each column. */
export function ListTable({ kind = 'list', columns, children }: Properties) {
  return (
    <table class={tableClasses[kind]}>
      <thead>
        <tr>
          {columns.map(column => {
            const [heading, className] = typeof column === 'string' ? [column, ''] : column;
            return (
              <th key={heading} scope="col" class={className}>
                {className === 'action' ? <span class="unseen">{heading}</span> : heading}
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

/** Stands in for content that is still loading, after a moment in the shape of rows; or for what failed to load. */
export function Waiting({ error, reload, what }: WaitingProperties) {
  if (error instanceof ApiFailure && error.problem?.status === 404) return <NotFound />;
  if (error !== undefined) return <ProblemNotice error={error} retry={reload} />;
  return (
    <div class="waiting" role="status">
      <span class="unseen">Loading {what}…</span>
      {[62, 48, 70].map(width => (
        <div key={width} class="flow skel-row" aria-hidden="true">
          <span class="skel skel-sign" />
          <span class="skel skel-name" />
          <span class="skel" style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  );
}

/** Stands in for a list without rows: what is missing, in a sentence, and what would fill it. */
export function Empty({ title, children }: EmptyProperties) {
  return (
    <div class="blank">
      <b>{title}</b>
      {children}
    </div>
  );
}
