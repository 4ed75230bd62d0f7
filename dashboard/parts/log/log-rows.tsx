import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { readSortableIdTime } from '../../../schema/ids.ts';
import type { SearchProgress } from '../../state/row-list.ts';
import type { Row } from '../../state/row-segments.ts';
import { timeZone } from '../../state/time-zone.ts';
import type { useRows } from '../../state/use-rows.ts';
import { formatExactTime } from '../../text/format-time.ts';
import { Disclosure } from '../disclosure.tsx';
import { ProblemNotice } from '../problem-notice.tsx';

interface Properties<T extends Row> {
  readonly rows: ReturnType<typeof useRows<T>>;
  /** The plural: it names the rows in texts, and the style of the list. */
  readonly what: 'deliveries' | 'runs';
  readonly listRef: RefObject<HTMLUListElement | null>;
  /** Called when the pointer moves over the list. */
  readonly onPoint: () => void;
  /** Stands in for a list without rows. */
  readonly empty: ComponentChildren;
  readonly renderSummary: (row: T) => ComponentChildren;
  readonly renderDetail: (row: T) => ComponentChildren;
}

/** Rows that open, and what reads on: at the end, and where rows in between were not read. */
export function LogRows<T extends Row>({
  rows: list,
  what,
  listRef,
  onPoint,
  empty,
  ...render
}: Properties<T>) {
  const { segments = [], error, progress, isReading } = list;
  // A rendered row is kept until the row changes, so that a long list costs little when another row arrives.
  const rendered = useMemo(() => new WeakMap<T, VNode>(), []);
  const renderRow = (row: T) => (
    <Disclosure
      key={row.id}
      class={list.hasArrived(row.id) ? 'arrived' : ''}
      summary={render.renderSummary(row)}
    >
      {() => render.renderDetail(row)}
    </Disclosure>
  );
  const isEmpty = segments.every(({ rows }) => rows.length === 0);
  const last = segments.length - 1;
  const isEnd = segments[last]?.next === null;
  // One flat list, so that a row stays the same element when a gap above it is closed.
  const items = segments.flatMap(({ rows }, index) => [
    ...rows.map(row => {
      const known = rendered.get(row) ?? renderRow(row);
      rendered.set(row, known);
      return known;
    }),
    index < last && (
      <li key={`after ${rows.at(-1)?.id}`} class="row gap">
        <button type="button" class="btn quiet" disabled={isReading} onClick={() => list.readMore(index)}>
          Show the {what} in between
        </button>
      </li>
    ),
  ]);
  return (
    <>
      {isEmpty && isEnd && empty}
      <ul ref={listRef} class={`card rows ${what}`} hidden={isEmpty} onPointerMove={onPoint}>
        {items}
      </ul>
      <ProblemNotice error={error} retry={list.reload} />
      {progress && <Progress progress={progress} what={what} onStop={list.stop} />}
      {!isEnd && !progress && (
        <button type="button" class="more" disabled={isReading} onClick={() => list.readMore(last)}>
          Show older {what}
        </button>
      )}
    </>
  );
}

interface ProgressProperties {
  readonly progress: SearchProgress;
  readonly what: string;
  readonly onStop: () => void;
}

function Progress({ progress: { searched, lastId }, what, onStop }: ProgressProperties) {
  const atMs = readSortableIdTime(lastId);
  return (
    <p class="progress" role="status">
      Searched {searched.toLocaleString('en')} {what}
      {atMs !== undefined && `, back to ${formatExactTime(atMs, timeZone.value)}`} …{' '}
      <button type="button" class="btn" onClick={onStop}>
        Stop
      </button>
    </p>
  );
}
