import type { ComponentChildren } from 'preact';
import { ProblemNotice } from './problem-notice.tsx';
import { Waiting } from './waiting.tsx';

interface Properties<T> {
  readonly pages: {
    readonly rows: readonly T[] | undefined;
    readonly error: unknown;
    readonly busy: boolean;
    readonly reload: () => void;
    readonly readMore: (() => void) | undefined;
  };
  /** The plural: it names the rows in texts, and the style of the list. */
  readonly what: 'deliveries' | 'runs';
  /** Stands in for a list without rows. */
  readonly empty: ComponentChildren;
  readonly renderRow: (row: T, index: number) => ComponentChildren;
}

/** A list that is read page by page. */
export function PagedRows<T>({ pages, what, empty, renderRow }: Properties<T>) {
  const { rows, error, busy, reload, readMore } = pages;
  if (!rows) return <Waiting error={error} reload={reload} what={what} />;
  return (
    <>
      {rows.length === 0 ? empty : <ul class={`card rows ${what}`}>{rows.map(renderRow)}</ul>}
      <ProblemNotice error={error} />
      {readMore && (
        <button type="button" class="more" disabled={busy} onClick={readMore}>
          Show older {what}
        </button>
      )}
    </>
  );
}
