import { useState } from 'preact/hooks';
import { noticeFailure } from './session.ts';

export interface Action<A extends readonly unknown[]> {
  readonly busy: boolean;
  readonly error: unknown;
  readonly run: (...given: A) => void;
  readonly clear: () => void;
}

/** Something that a person asks for: once at a time, with what went wrong kept to be shown. */
export function useAction<A extends readonly unknown[]>(act: (...given: A) => Promise<void>): Action<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (...given: A) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    act(...given)
      .catch((failure: unknown) => {
        noticeFailure(failure);
        setError(failure);
      })
      .finally(() => setBusy(false));
  };
  return { busy, error, run, clear: () => setError(undefined) };
}
