import { signal } from '@preact/signals';
import { ApiFailure } from '../api-answers.ts';

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

/** Time after somebody's last key or click from which the page only reads by itself, in ms. */
const attendedMs = 60_000;
const signs = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const;

let usedAtMs = Date.now();

/** Notices when somebody uses the page, so that a page that only reads by itself does not keep its session. */
export function noticeUse(): void {
  const note = () => {
    usedAtMs = Date.now();
  };
  for (const sign of signs) addEventListener(sign, note, { capture: true, passive: true });
}

export function isUnattended(): boolean {
  return Date.now() - usedAtMs > attendedMs;
}
