import { signal } from '@preact/signals';
import { ApiFailure } from '../api-failure.ts';

/** True after the API refused a call because it had no valid session. */
export const sessionExpired = signal(false);

/** Notices that the session has expired. Every call that failed must be reported here. */
export function reportFailure(error: unknown): void {
  if (error instanceof ApiFailure && error.problem?.status === 401) sessionExpired.value = true;
}
