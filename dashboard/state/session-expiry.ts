import { signal } from '@preact/signals';
import { ApiFailure } from '../api-failure.ts';

// The key of the session. The browser sends the session's cookie to every port of this host; the key stays in the storage
// of this origin, which is one port, and all tabs share it.
const item = 'hookmill-session-key';

/** True after the API refused a call because it had no valid session. */
export const sessionExpired = signal(false);

/** Notices that the session has expired. Every call that failed must be reported here. */
export function reportFailure(error: unknown): void {
  if (error instanceof ApiFailure && error.problem?.status === 401) sessionExpired.value = true;
}

export function readSessionKey(): string | null {
  return localStorage.getItem(item);
}

export function keepSessionKey(key: string): void {
  localStorage.setItem(item, key);
}

export function forgetSessionKey(): void {
  localStorage.removeItem(item);
}
