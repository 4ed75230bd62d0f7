// The key of the session. The browser sends the session's cookie to every port of this host; the key stays in the storage
// of this origin, which is one port, and all tabs share it.
const item = 'hookmill-session-key';

export function readSessionKey(): string | null {
  return localStorage.getItem(item);
}

export function keepSessionKey(key: string): void {
  localStorage.setItem(item, key);
}

export function forgetSessionKey(): void {
  localStorage.removeItem(item);
}
