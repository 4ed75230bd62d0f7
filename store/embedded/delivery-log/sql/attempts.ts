import { attemptErrorCharsMax, attemptsKeptMax } from '../../../delivery-log/run-flow.ts';

// What SQL sets as the `history` of a run.

/** Whether the last attempt is being made. */
const isOpen = "history ->> '$[#-1].startedAtMs' IS NOT NULL AND history ->> '$[#-1].endedAtMs' IS NULL";

/** The history with the attempt that begins, and without the oldest one of too many. `atMs` is an expression. */
export function beginAttempt(atMs: string): string {
  const before = `iif(json_array_length(history) >= ${attemptsKeptMax}, json_remove(history, '$[0]'), coalesce(history, '[]'))`;
  return `json_insert(${before}, '$[#]', json_object('attempt', attempts + 1, 'startedAtMs', ${atMs}))`;
}

/** The history in which the last attempt has ended, if that was being made. Both are expressions; `error` may be null. */
export function endAttempt(atMs: string, error: string): string {
  const ended = `json_set(history, '$[#-1].endedAtMs', ${atMs})`;
  const failed = `json_set(${ended}, '$[#-1].error', substr(${error}, 1, ${attemptErrorCharsMax}))`;
  return `iif(${isOpen}, iif(${error} IS NULL, ${ended}, ${failed}), history)`;
}

/** The history without the last attempt, if that was being made: the claim was none. */
export const forgetAttempt = `iif(${isOpen}, nullif(json_remove(history, '$[#-1]'), '[]'), history)`;
