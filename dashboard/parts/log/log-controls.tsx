import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useFactory } from '../../state/current-factory.ts';
import { currentLocation, readQuery, redirectTo } from '../../state/current-location.ts';
import { useKeys } from '../../state/keyboard.ts';
import { changeFilters, type LogFilters, readFilters, toApiFilters } from '../../state/log-filters.ts';
import type { Row } from '../../state/row-segments.ts';
import { Button, Finder } from '../controls.tsx';
import type { ChangeFilters } from './log-chips.tsx';
import type { Log } from './log-list.tsx';

const noFilters: LogFilters = {};

/** An action on all rows that the filters choose. */
export interface BulkAction {
  readonly action: string;
  /** Narrows the filters of a list to the rows that allow the action; undefined if none can. */
  readonly narrow: (filters: LogFilters) => LogFilters | undefined;
  readonly render: (filters: LogFilters, onClose: () => void) => ComponentChildren;
}

/**
 * The filters of a list: those that the address has, which `change` sets there, and the ones that the page implies. Other
 * parts of the address stay. `f` goes to the first chip on the page.
 */
export function useLogFilters(fixed: LogFilters = noFilters) {
  const location = currentLocation.value;
  const query = readQuery();
  const chosen = Object.fromEntries(
    Object.entries(readFilters(query)).filter(([name]) => !(name in fixed)),
  ) as LogFilters;
  const change: ChangeFilters = changed => {
    if (!('factory' in location)) return;
    const others = Object.entries(query).filter(([name]) => !(name in readFilters(query)));
    redirectTo({ ...location, query: { ...Object.fromEntries(others), ...changeFilters(chosen, changed) } });
  };
  useKeys({ f: () => document.querySelector<HTMLElement>('main .chip')?.focus() });
  return {
    /** What the user chose. */
    chosen,
    filters: { ...chosen, ...fixed },
    change,
    clear: () => change(Object.fromEntries(Object.keys(chosen).map(name => [name, '']))),
    isFiltered: Object.keys(chosen).length > 0,
  };
}

/** The title above a list that fills the window. It takes the focus when the page appears, unless a row is open. */
export function BarTitle({ title, isQuiet = false }: { readonly title: string; readonly isQuiet?: boolean }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (!isQuiet) heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {title}
    </h1>
  );
}

/** Whether new rows appear by themselves; while they are only counted, a button that shows them. It keeps its width. */
export function LiveSign<T extends Row>({ log }: { readonly log: Log<T> }) {
  const showNew = () => {
    const list = log.list.current;
    list?.closest('.pane')?.scrollTo({ top: 0 });
    if (list && list.getBoundingClientRect().top < 0) scrollTo({ top: 0 });
    log.showNew();
  };
  return (
    <span class="live-sign">
      {log.waiting > 0 ? (
        <Button
          look="small"
          label={`${log.isPastCount ? 'Many' : log.waiting.toLocaleString('en')} new`}
          onClick={showNew}
        />
      ) : log.isLive ? (
        <span class="live">live</span>
      ) : (
        <span class="t3 small">not live</span>
      )}
    </span>
  );
}

interface SearchProperties {
  readonly value: string;
  readonly onChange: (text: string) => void;
}

/** Searches payloads once the user presses Enter or leaves the field: it may take long. */
export function LogSearch({ value, onChange }: SearchProperties) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <search class="log-search" onChange={() => text !== value && onChange(text)}>
      <Finder
        label="Search payloads"
        value={text}
        onInput={next => {
          setText(next);
          if (next === '' && value !== '') onChange('');
        }}
      />
    </search>
  );
}

interface BulkProperties {
  readonly bulk: BulkAction;
  readonly filters: LogFilters;
  /** Called once the dialog is closed. */
  readonly onDone: () => void;
}

/** A button that does something to all rows of a list, after it has asked; nothing without the manage permission. */
export function BulkButton({ bulk, filters, onDone }: BulkProperties) {
  const { mayManage } = useFactory();
  /** The filters at the time of the click: the action is not done to rows that are recorded later. */
  const [meant, setMeant] = useState<LogFilters>();
  const narrowed = bulk.narrow(filters);
  if (!narrowed || !mayManage) return null;
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
      <Button look="no-phone" label={bulk.action} onClick={open} />
      {meant && bulk.render(meant, close)}
    </>
  );
}
