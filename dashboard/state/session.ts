import { signal } from '@preact/signals';
import { callApi } from '../api-client.ts';
import { ApiFailure } from '../api-failure.ts';
import type { Account } from '../api-types.ts';
import { forgetSessionKey, keepSessionKey } from '../session-key.ts';
import { sessionExpired } from './session-expiry.ts';

export type Session =
  | { readonly state: 'unknown' }
  | { readonly state: 'unreachable'; readonly failure: ApiFailure }
  | { readonly state: 'signed-out' }
  /** Counts only while `sessionExpired` is false. */
  | { readonly state: 'signed-in'; readonly account: Account };

export const session = signal<Session>({ state: 'unknown' });

export async function resumeSession(): Promise<void> {
  try {
    session.value = { state: 'signed-in', account: await callApi('get', '/session', {}) };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    session.value = error.problem ? { state: 'signed-out' } : { state: 'unreachable', failure: error };
  }
}

/** Signs in with an API token. Fails with an ApiFailure if the API refuses it. */
export async function signIn(token: string): Promise<void> {
  const { sessionKey, ...account } = await callApi('post', '/session', { body: { token } });
  keepSessionKey(sessionKey);
  session.value = { state: 'signed-in', account };
  sessionExpired.value = false;
}

export async function signOut(): Promise<void> {
  await callApi('delete', '/session', {});
  forgetSessionKey();
  session.value = { state: 'signed-out' };
}
