import { useState } from 'preact/hooks';
import { reportFailure } from './session-expiry.ts';

/** An action that the user starts. It does not run twice at the same time, and keeps its last error for display. */
export function useAction<A extends readonly unknown[]>(act: (...given: A) => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = (...given: A) => {
    if (busy) return;
    setBusy(true);
    setError(undefined);
    act(...given)
      .catch((failure: unknown) => {
        reportFailure(failure);
        setError(failure);
      })
      .finally(() => setBusy(false));
  };
  return { busy, error, run };
}

/** An action that the submit event of a form starts. */
export function useSubmit(act: () => Promise<void>) {
  const { busy, error, run } = useAction(act);
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return { busy, error, submit };
}
