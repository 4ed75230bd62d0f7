import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { readSortableIdTime, uidPattern } from '../../../schema/ids.ts';
import { buildApiUrl } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { goTo, redirectTo } from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import { type ListItem, toListItems } from '../../state/list-items.ts';
import { type LogFilters, toApiFilters } from '../../state/log-filters.ts';
import { useStillRows, useWindow } from '../../state/long-list.ts';
import { type FactoryLocation, toHref } from '../../state/page-location.ts';
import type { RowsPosition, SearchProgress } from '../../state/row-list.ts';
import type { Row, RowsPage } from '../../state/row-segments.ts';
import { nowMs, timeZone } from '../../state/time.ts';
import { useRows } from '../../state/use-rows.ts';
import { watchEvents } from '../../state/watch-events.ts';
import { formatClockTime, formatDay, formatExactTime } from '../../text/format-time.ts';
import { Button } from '../controls.tsx';
import { Empty, Waiting } from '../lists.tsx';
import { ProblemNotice } from '../problem-notice.tsx';

/** Deliveries or runs: how they are read, and what is shown of one. Keep it the same object: rows are rendered once for each. */
export interface LogKind<T extends Row> {
  readonly what: 'deliveries' | 'runs';
  readonly read: (
    factory: string,
    query: LogFilters & RowsPosition,
    signal: AbortSignal | undefined,
  ) => Promise<RowsPage<T>>;
  /** Whether what a row shows may still change. */
  readonly mayChange: (row: T) => boolean;
  readonly timeOf: (row: T) => string;
  /** The class of its line, which has the columns: `d` or `r`. */
  readonly look: string;
  /** Renders the cells of a line. */
  readonly renderCells: (row: T) => ComponentChildren;
  /** Rows of a day with the same text are folded, if there are many; undefined: the row is not. */
  readonly foldOf?: (row: T) => string | undefined;
}

/** A list of the log that is being read. */
export interface Log<T extends Row> extends ReturnType<typeof useRows<T>> {
  /** The element of the list. */
  readonly list: RefObject<HTMLOListElement | null>;
  /** Tells that the pointer moves over the list. */
  readonly onPoint: () => void;
}

interface Properties<T extends Row> {
  readonly kind: LogKind<T>;
  readonly log: Log<T>;
  /** Where the line of a row leads. */
  readonly locationOf: (row: T) => FactoryLocation;
  /** The row whose detail is shown beside the list. The keys j and k then show that of the next and the previous row. */
  readonly current?: string | undefined;
  /** Stands in for a list without rows. */
  readonly empty: ComponentChildren;
}

/** How long the list stays as it is after the pointer has moved over it, in ms: the user may be about to click. */
const pointedMs = 3_000;

/**
 * Reads a list of the log, newest first, and goes on as rows are recorded. While somebody reads (a row is open, the list is
 * scrolled, or the pointer or the focus is in it), new rows are only counted: `waiting`.
 */
export function useLog<T extends Row>(kind: LogKind<T>, filters: LogFilters, isOpen = false): Log<T> {
  const { factory } = useFactory();
  const list = useRef<HTMLOListElement>(null);
  const pointedAtMs = useRef(Number.NEGATIVE_INFINITY);
  const key = JSON.stringify([factory, kind.what, filters]);
  const { state: _, ...stateless } = filters;
  // A relative time counts from when the list was opened.
  const [opened, setOpened] = useState({ key, atMs: Date.now() });
  if (opened.key !== key) setOpened({ key, atMs: Date.now() });
  const read = (chosen: LogFilters) => (position: RowsPosition, signal: AbortSignal) =>
    kind.read(factory, { ...toApiFilters(chosen, opened.atMs), ...position }, signal);
  const { webhook = '' } = filters;
  const watched = uidPattern.test(webhook) ? { webhook } : {};
  const url = buildApiUrl('/factories/{factory}/live-deliveries', { factory, query: watched });
  const rows = useRows<T>(
    {
      read: read(filters),
      readAgain: read(stateless),
      mayChange: kind.mayChange,
      timeOf: kind.timeOf,
      watch:
        filters.until === undefined
          ? (onEvent, onLive) => watchEvents({ url, name: 'deliveries', onEvent, onLive })
          : undefined,
    },
    key,
    () => isOpen || performance.now() - pointedAtMs.current < pointedMs || isInUse(list.current),
  );
  const onPoint = () => {
    pointedAtMs.current = performance.now();
  };
  return { ...rows, list, onPoint };
}

/** Whether the user is in the list: new rows on top would move what is read or pointed at. */
function isInUse(list: HTMLElement | null): boolean {
  if (!list) return false;
  const top = Math.max(0, list.closest('.pane')?.getBoundingClientRect().top ?? 0);
  return list.getBoundingClientRect().top < top || list.querySelector(':focus-visible') !== null;
}

/** The rows of a log, day by day, and what reads on: at the end, and where rows in between were not read. */
export function LogList<T extends Row>({ kind, log, empty, ...properties }: Properties<T>) {
  const { segments, error, progress, isReading } = log;
  if (!segments) return <Waiting error={error} reload={log.reload} what={kind.what} />;
  const last = segments.length - 1;
  const isEnd = segments[last]?.next === null;
  const isEmpty = segments.every(({ rows }) => rows.length === 0);
  return (
    <>
      {isEmpty && isEnd && <div class="list-end">{empty}</div>}
      <Lines kind={kind} log={log} {...properties} />
      <div class="list-end">
        <ProblemNotice error={error} retry={log.reload} />
        {progress && <Progress progress={progress} what={kind.what} onStop={log.stop} />}
        {!isEnd && !progress && (
          <Button
            look="quiet"
            label={`Show older ${kind.what}`}
            disabled={isReading}
            onClick={() => log.readMore(last)}
          />
        )}
      </div>
    </>
  );
}

interface NoneProperties<T extends Row> {
  readonly kind: LogKind<T>;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** How a first row comes. */
  readonly children: string;
}

/** Stands in for a list without rows. */
export function NoRows<T extends Row>({ kind: { what }, isFiltered, onClear, children }: NoneProperties<T>) {
  if (!isFiltered)
    return (
      <Empty title={`No ${what} yet`}>
        <p>{children}</p>
      </Empty>
    );
  return (
    <Empty title={`No ${what} match the filters`}>
      <p>
        <Button label="Clear filters" onClick={onClear} />
      </p>
    </Empty>
  );
}

const lineClasses = { day: 'day', gap: 'gap', row: '', fold: '' } as const;

/** The lines in view, and room for the others. */
function Lines<T extends Row>(properties: Omit<Properties<T>, 'empty'>) {
  const { kind, log, current } = properties;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const zone = timeZone.value;
  const { timeOf, foldOf } = kind;
  const items = useMemo(
    () => toListItems(log.segments ?? [], { timeOf, foldOf, opened, current, zone }),
    [log.segments, timeOf, foldOf, opened, current, zone],
  );
  const { from, to, day, above, below, show } = useWindow(items, log.list);
  useStillRows(log.list, items);
  useRowKeys(properties, items, show);
  const renderRow = useRowCache(properties);
  const toggle = (fold: string) => setOpened(known => switchIn(known, fold));
  const render = (item: ListItem<T>) => (
    <li key={item.key} class={lineClasses[item.kind]} data-kind={item.kind} data-key={item.key}>
      {item.kind === 'row' ? (
        renderRow(item.row)
      ) : (
        <OtherLine item={item} log={log} what={kind.what} onToggle={toggle} />
      )}
    </li>
  );
  return (
    <ol ref={log.list} class="list log-lines" onPointerMove={log.onPoint}>
      {above > 0 && <li key="above" class="room" aria-hidden="true" style={{ height: `${above}px` }} />}
      {day && render(day)}
      {items.slice(from, to).map(render)}
      {below > 0 && <li key="below" class="room" aria-hidden="true" style={{ height: `${below}px` }} />}
    </ol>
  );
}

function switchIn(known: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set(known.has(name) ? [...known].filter(each => each !== name) : [...known, name]);
}

/** Keeps a rendered row until it changes, so that a list costs little when another row arrives. */
function useRowCache<T extends Row>({ kind, log, locationOf, current }: Omit<Properties<T>, 'empty'>) {
  const known = useMemo(() => new WeakMap<T, readonly [state: string, rendered: VNode]>(), [kind]);
  return (row: T): VNode => {
    const href = toHref(locationOf(row));
    const className = `row ${kind.look} ${log.hasArrived(row.id) ? 'is-new' : ''}`;
    const isCurrent = row.id === current;
    const state = `${href} ${className} ${isCurrent}`;
    const [knownState, knownRow] = known.get(row) ?? [];
    if (knownRow && knownState === state) return knownRow;
    const rendered = (
      <a class={className} href={href} aria-current={isCurrent ? 'true' : undefined}>
        {kind.renderCells(row)}
      </a>
    );
    known.set(row, [state, rendered]);
    return rendered;
  };
}

/** The keys that go from row to row. */
function useRowKeys<T extends Row>(
  { log, locationOf, current }: Omit<Properties<T>, 'empty'>,
  items: readonly ListItem<T>[],
  show: (key: string) => void,
): void {
  const rows = () => items.flatMap(item => (item.kind === 'row' ? [item.row] : []));
  const find = () => {
    const focused = log.list.current?.querySelector('li:focus-within')?.getAttribute('data-key');
    return rows().findIndex(({ id }) => id === (focused ?? current));
  };
  const move = (step: number) => {
    const at = find();
    const next = at === -1 ? rows()[0] : rows()[at + step];
    if (!next) {
      if (step > 0) log.readMore((log.segments?.length ?? 1) - 1);
      return;
    }
    if (current !== undefined) redirectTo(locationOf(next));
    show(next.id);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const row = rows()[Math.max(0, find())];
      if (row) goTo(locationOf(row));
    },
  });
}

interface OtherProperties<T extends Row> {
  readonly item: Exclude<ListItem<T>, { readonly kind: 'row' }>;
  readonly log: Log<T>;
  readonly what: string;
  readonly onToggle: (fold: string) => void;
}

/** A line that is no row: a day, a fold, or what reads the rows in between. */
function OtherLine<T extends Row>({ item, log, what, onToggle }: OtherProperties<T>) {
  switch (item.kind) {
    case 'day':
      return <>{formatDay(item.atMs, nowMs.value, timeZone.value)}</>;
    case 'fold':
      return (
        <button type="button" class="fold" aria-expanded={item.isOpen} onClick={() => onToggle(item.fold)}>
          {item.isOpen ? 'Fold ' : ''}
          {item.count} {item.isOpen ? '' : 'more '}like it since {formatClockTime(item.since, timeZone.value)}
        </button>
      );
    case 'gap':
      return (
        <Button
          look="quiet"
          label={`Show the ${what} in between`}
          disabled={log.isReading}
          onClick={() => log.readMore(item.segment)}
        />
      );
  }
}

interface ProgressProperties {
  readonly progress: SearchProgress;
  readonly what: string;
  readonly onStop: () => void;
}

function Progress({ progress: { searched, lastId }, what, onStop }: ProgressProperties) {
  const atMs = readSortableIdTime(lastId);
  return (
    <p class="flow t2" role="status">
      Searched {searched.toLocaleString('en')} {what}
      {atMs !== undefined && `, back to ${formatExactTime(atMs, timeZone.value)}`} …
      <Button look="small" label="Stop" onClick={onStop} />
    </p>
  );
}
