import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { noticeFailure } from './session.ts';

/** What is being read from the API. A value that was read stays while it is read anew. */
export interface Loading<T> {
  readonly value: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
  /** Puts a newer value in place, as a change answered it. */
  readonly put: (value: T) => void;
}

/** Reads when the component appears and whenever one of `keys` changes; what is no longer asked for is aborted. */
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
        noticeFailure(failure);
        setState(({ value }) => ({ value, error: failure }));
      },
    );
    return () => controller.abort();
  }, [...keys, round]);
  const reload = useCallback(() => setRound(count => count + 1), []);
  const put = useCallback((newer: T) => setState({ value: newer }), []);
  return { value, error, reload, put };
}
