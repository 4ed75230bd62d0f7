import { useEffect, useMemo, useState } from 'preact/hooks';
import { countedRowsMax, RowList, type Rows, type RowsSource } from './row-list.ts';
import type { Row } from './row-segments.ts';
import { reportFailure } from './session-expiry.ts';
import { useInterval } from './time.ts';

/** Time between two looks without a sign of new rows, in ms. */
const idleMs = 15_000;
/** Time between two reads of rows that may still change, in ms. */
const refreshMs = 2_000;

const nothing = { segments: undefined, error: undefined, progress: undefined, isReading: false, waiting: 0 };

/**
 * A list of the log, newest first, that adds new rows on top as they are recorded, and never removes any. While `isHeld`,
 * it only counts them. It begins again with another `key`.
 */
export function useRows<T extends Row>(source: RowsSource<T>, key: string, isHeld: () => boolean) {
  const [state, setState] = useState<Rows<T>>({ ...nothing, isLive: false });
  const list = useMemo(() => new RowList<T>(setState, reportFailure), [key]);
  list.source = source;
  list.isHeld = isHeld;
  useEffect(() => {
    setState(({ isLive }) => ({ ...nothing, isLive }));
    list.open();
    return () => list.close();
  }, [list]);
  useEffect(() => {
    return source.watch?.(
      () => list.wake(),
      isLive => {
        setState(known => ({ ...known, isLive }));
        list.wake();
      },
    );
  }, [list]);
  useInterval(() => list.wake(), source.watch && idleMs);
  const changing = state.segments?.some(({ rows }) => rows.some(source.mayChange));
  useInterval(() => list.refresh(), changing ? refreshMs : undefined);
  return {
    ...state,
    hasArrived: (id: string) => list.hasArrived(id),
    isPastCount: state.waiting > countedRowsMax,
    readMore: (index: number) => list.readMore(index),
    stop: () => list.stop(),
    showNew: () => list.showNew(),
    refresh: () => list.refresh(),
    reload: () => list.open(),
  };
}
