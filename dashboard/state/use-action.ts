import { useState } from 'preact/hooks';
import { ApiFailure } from '../api-answers.ts';
import { daemonAway } from './connection.ts';
import { reportFailure } from './session-expiry.ts';

/** Why nothing can be done while the daemon is away. */
export const awayReason = 'The daemon does not answer.';
const silence = new ApiFailure(awayReason, undefined, { isAway: true });

/** The attributes of a button that starts an action. */
export interface ActionControl {
  readonly 'aria-disabled': boolean;
  readonly title: string | undefined;
}

/**
 * An action that the user starts. It does not run twice at the same time, nor while the daemon is away, and keeps its last
 * error for display. `control` is for the attributes of its button: it stays in the order of Tab, and says why it waits.
 */
export function useAction<A extends readonly unknown[]>(act: (...given: A) => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const isAway = daemonAway.value !== undefined;
  const run = (...given: A) => {
    if (busy) return;
    if (isAway) return setError(silence);
    setBusy(true);
    setError(undefined);
    act(...given)
      .catch((failure: unknown) => {
        reportFailure(failure);
        setError(failure);
      })
      .finally(() => setBusy(false));
  };
  const control: ActionControl = { 'aria-disabled': busy || isAway, title: isAway ? awayReason : undefined };
  // That the daemon did not answer is no longer true when it is back.
  const isOver = !isAway && error instanceof ApiFailure && !error.problem && error.passes;
  return { busy, error: isOver ? undefined : error, run, control };
}

/** An action that the submit event of a form starts. */
export function useSubmit(act: () => Promise<void>) {
  const { run, ...action } = useAction(act);
  const submit = (event: Event) => {
    event.preventDefault();
    run();
  };
  return { ...action, submit };
}
