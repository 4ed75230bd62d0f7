import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { hasEnded, type RunState } from '../../schema/delivery.ts';
import { ApiFailure } from '../api-answers.ts';
import { rereads } from './connection.ts';
import { reportFailure } from './session-expiry.ts';
import { useInterval } from './time.ts';

const unfinishedMs = 2_000;

/** A value that is read from the API. The old value stays while a new one is being read. */
export interface Loading<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
  /** Replaces the value, for example with the one that a change returned. */
  readonly put: (value: T) => void;
}

/** Reads when the component appears and when one of `keys` changes, and aborts reads that are no longer needed. */
export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loading<T> {
  const [{ value, error }, setState] = useState<{ value?: T | undefined; error?: unknown }>({});
  const [round, setRound] = useState(0);
  const latestRead = useRef(read);
  latestRead.current = read;
  useEffect(() => {
    const controller = new AbortController();
    latestRead.current(controller.signal).then(
      read => {
        if (!controller.signal.aborted) setState({ value: read });
      },
      failure => {
        if (controller.signal.aborted) return;
        reportFailure(failure);
        // The page says so itself, and reads again.
        if (failure instanceof ApiFailure && failure.passes) return;
        setState(({ value }) => ({ value, error: failure }));
      },
    );
    return () => controller.abort();
  }, [...keys, round, rereads.value]);
  const reload = useCallback(() => setRound(count => count + 1), []);
  const put = useCallback((newer: T) => setState({ value: newer }), []);
  return { value, error, reload, put };
}

/** Whether each was read or has failed: then nothing of what is shown moves because another part comes. */
export function areSettled(...all: readonly Pick<Loading<unknown>, 'value' | 'error'>[]): boolean {
  return all.every(({ value, error }) => value !== undefined || error !== undefined);
}

/** Reads like `useLoad`, and again every `everyMs` while the page is visible. */
export function usePolled<T>(
  read: (signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
  everyMs: number | undefined,
): Loading<T> {
  const loading = useLoad(read, keys);
  useInterval(loading.reload, everyMs);
  return loading;
}

/** Reloads every two seconds while one of the runs is queued or running, otherwise every `otherwiseMs` if given. */
export function useRunRefresh(
  reload: () => void,
  runs: readonly { readonly state: RunState }[] | undefined,
  otherwiseMs?: number,
): void {
  const unfinished = runs?.some(({ state }) => !hasEnded(state));
  useInterval(reload, unfinished ? unfinishedMs : otherwiseMs);
}
