import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import { uidPattern } from '../../../schema/ids.ts';
import { buildApiUrl } from '../../api-client.ts';
import { useFactory } from '../../state/current-factory.ts';
import { currentLocation, redirectTo } from '../../state/current-location.ts';
import {
  changeFilters,
  type LogFilterName,
  type LogFilters,
  readFilters,
  toApiFilters,
} from '../../state/log-filters.ts';
import type { RowsPosition } from '../../state/row-list.ts';
import type { Row, RowsPage } from '../../state/row-segments.ts';
import { useRows } from '../../state/use-rows.ts';
import { watchEvents } from '../../state/watch-events.ts';
import { isRowOpen } from '../disclosure.tsx';
import { Empty, Waiting } from '../lists.tsx';
import { Pill } from '../pills.tsx';
import { FilterBar } from './filter-bar.tsx';
import { LogRows } from './log-rows.tsx';

/** Deliveries or runs: how they are read, and what is shown of them. */
export interface LogKind<T> {
  readonly what: 'deliveries' | 'runs';
  readonly filters: readonly LogFilterName[];
  readonly read: (
    factory: string,
    query: LogFilters & RowsPosition,
    signal: AbortSignal | undefined,
  ) => Promise<RowsPage<T>>;
  /** Whether what a row shows may still change. */
  readonly mayChange: (row: T) => boolean;
  readonly timeOf: (row: T) => string;
  /** Renders the line of a row in a list for these filters. */
  readonly renderSummary: (row: T, fixed: LogFilters) => ComponentChildren;
  /** Renders the detail of a row that the user opens. */
  readonly renderDetail: (row: T, refresh: () => void) => ComponentChildren;
  /** Actions on all rows of the list. */
  readonly bulk: readonly BulkAction[];
}

/** An action on all rows of a list. */
export interface BulkAction {
  readonly action: string;
  /** Narrows the filters of a list to the rows that allow the action; undefined if none can. */
  readonly narrow: (filters: LogFilters) => LogFilters | undefined;
  readonly render: (filters: LogFilters, onClose: () => void) => ComponentChildren;
}

interface Properties<T> {
  readonly kind: LogKind<T>;
  readonly title: string;
  /** The filters that the page implies. They are not offered. */
  readonly fixed?: LogFilters;
  /** Says when rows appear, while there are none. */
  readonly empty: string;
}

/** How long the list stays as it is after the pointer has moved over it, in ms: the user may be about to click. */
const pointedMs = 3_000;
const noFilters: LogFilters = {};

/** A list of the log, newest first, with its filters. New rows appear as they are recorded. */
export function LogList<T extends Row>({ kind, title, fixed = noFilters, empty }: Properties<T>) {
  const { mayManage } = useFactory();
  const headingId = useId();
  const list = useRef<HTMLUListElement>(null);
  const pointedAtMs = useRef(Number.NEGATIVE_INFINITY);
  const location = currentLocation.value;
  const filters = { ...readFilters('query' in location ? location.query : undefined), ...fixed };
  const chosen = Object.fromEntries(Object.entries(filters).filter(([name]) => !(name in fixed)));
  const rows = useLogRows(
    kind,
    filters,
    () => performance.now() - pointedAtMs.current < pointedMs || isInUse(list.current),
  );
  const change = (changed: Readonly<Partial<Record<LogFilterName, string>>>) => {
    if ('factory' in location) redirectTo({ ...location, query: { ...changeFilters(chosen, changed) } });
  };
  const isFiltered = Object.keys(chosen).length > 0;
  return (
    <section aria-labelledby={headingId}>
      <div class="section-heading sticky">
        <h2 id={headingId}>{title}</h2>
        {rows.waiting > 0 ? (
          <button type="button" class="pill busy" onClick={rows.showNew}>
            {rows.isPastCount ? 'Many' : rows.waiting} new
          </button>
        ) : (
          <Pill tone={rows.isLive ? 'busy' : 'quiet'}>{rows.isLive ? 'live' : 'not live'}</Pill>
        )}
        {mayManage && (
          <div class="actions push">
            {kind.bulk.map(bulk => (
              <BulkButton key={bulk.action} bulk={bulk} filters={filters} onDone={rows.refresh} />
            ))}
          </div>
        )}
      </div>
      <FilterBar filters={chosen} offered={kind.filters.filter(name => !(name in fixed))} onChange={change} />
      {rows.segments ? (
        <LogRows
          rows={rows}
          what={kind.what}
          listRef={list}
          onPoint={() => {
            pointedAtMs.current = performance.now();
          }}
          empty={
            <Empty title={isFiltered ? `No ${kind.what} match the filters` : `No ${kind.what} yet`}>
              {!isFiltered && <p>{empty}</p>}
            </Empty>
          }
          renderSummary={row => kind.renderSummary(row, fixed)}
          renderDetail={row => kind.renderDetail(row, rows.refresh)}
        />
      ) : (
        <Waiting error={rows.error} reload={rows.reload} what={kind.what} />
      )}
    </section>
  );
}

interface BulkProperties {
  readonly bulk: BulkAction;
  readonly filters: LogFilters;
  readonly onDone: () => void;
}

function BulkButton({ bulk, filters, onDone }: BulkProperties) {
  /** The filters at the time of the click: the action is not done to rows that are recorded later. */
  const [meant, setMeant] = useState<LogFilters>();
  const narrowed = bulk.narrow(filters);
  if (!narrowed) return null;
  const open = () => {
    const nowMs = Date.now();
    setMeant(toApiFilters({ until: new Date(nowMs).toISOString(), ...narrowed }, nowMs));
  };
  const close = () => {
    setMeant(undefined);
    onDone();
  };
  return (
    <>
      <button type="button" class="btn" onClick={open}>
        {bulk.action}
      </button>
      {meant && bulk.render(meant, close)}
    </>
  );
}

function useLogRows<T extends Row>(kind: LogKind<T>, filters: LogFilters, isHeld: () => boolean) {
  const { factory } = useFactory();
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
  return useRows<T>(
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
    isHeld,
  );
}

/** Whether the user is in the list: new rows on top would move what is read or pointed at. */
function isInUse(list: HTMLElement | null): boolean {
  if (!list) return false;
  return (
    isRowOpen(list) || list.getBoundingClientRect().top < 0 || list.querySelector(':focus-visible') !== null
  );
}
