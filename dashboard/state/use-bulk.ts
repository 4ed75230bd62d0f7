import { useEffect, useRef, useState } from 'preact/hooks';
import { apiPageMax } from '../../schema/api/conventions.ts';
import { actOnEach, type BulkResult, bulkRatePerSecond } from '../../schema/clients/act-on-each.ts';
import { ApiFailure } from '../api-answers.ts';
import type { RowsPosition } from './row-list.ts';
import type { Row, RowsPage } from './row-segments.ts';
import { reportFailure } from './session-expiry.ts';

/** @limit Most deliveries or runs to which the dashboard does the same at once: minutes, for which its page must stay open. */
export const bulkRowsMax = 5_000;

interface BulkState {
  readonly phase: 'counting' | 'ready' | 'acting' | 'over';
  readonly ids: readonly string[];
  /** Whether there are more than may be acted on. */
  readonly isTooMany: boolean;
  readonly tried: number;
  readonly result?: BulkResult<unknown>;
  readonly error?: unknown;
}

type ReadRows = (position: RowsPosition, signal: AbortSignal) => Promise<RowsPage<Row>>;

/** Counts the rows of a list, and does the same with each when it is told to, oldest first. Ends with its component. */
export function useBulk(read: ReadRows) {
  const [state, setState] = useState<BulkState>({ phase: 'counting', ids: [], isTooMany: false, tried: 0 });
  const change = (changed: Partial<BulkState>) => setState(known => ({ ...known, ...changed }));
  const ending = useRef(new AbortController());
  useEffect(() => {
    const { signal } = ending.current;
    countRows(read, signal, ids => change({ ids })).then(
      counted => !signal.aborted && change({ ...counted, phase: 'ready' }),
      error => {
        if (signal.aborted) return;
        reportFailure(error);
        change({ error });
      },
    );
    return () => ending.current.abort();
  }, []);
  const start = async (act: (id: string) => Promise<unknown>) => {
    change({ phase: 'acting' });
    const result = await actOnEach(state.ids, {
      act,
      awaitTurn: paceUntil(ending.current.signal),
      codeOf: error => (error instanceof ApiFailure ? error.problem?.code : undefined),
      onProgress: tried => change({ tried }),
    });
    reportFailure(result.failure);
    change({ phase: 'over', result });
  };
  return { ...state, start, stop: () => ending.current.abort() };
}

async function countRows(read: ReadRows, signal: AbortSignal, onFound: (ids: readonly string[]) => void) {
  const ids: string[] = [];
  for (let after = 'start'; ; ) {
    const { rows, next, hasMore } = await read({ after, limit: apiPageMax }, signal);
    ids.push(...rows.map(({ id }) => id));
    onFound([...ids]);
    if (ids.length > bulkRowsMax) return { ids: ids.slice(0, bulkRowsMax), isTooMany: true };
    if (!hasMore) return { ids, isTooMany: false };
    after = next ?? after;
  }
}

/** Gives each row its turn, at a rate, until it is told to stop. */
function paceUntil(signal: AbortSignal): (position: number) => Promise<boolean> {
  const startMs = performance.now();
  const stopped = new Promise<unknown>(resolve => signal.addEventListener('abort', resolve));
  return async position => {
    const dueMs = startMs + (position * 1_000) / bulkRatePerSecond;
    const due = new Promise(resolve => setTimeout(resolve, dueMs - performance.now()));
    await Promise.race([due, stopped]);
    return !signal.aborted;
  };
}
