import { signal } from '@preact/signals';
import { signInPath } from '../../schema/api/conventions.ts';
import { findPermission } from '../../schema/grant.ts';
import { type Account, ApiFailure } from '../api-answers.ts';
import { callApi } from '../api-client.ts';
import { readAgain } from './connection.ts';
import { forgetSessionKey, keepSessionKey, sessionExpired } from './session-expiry.ts';

export type Session =
  | { readonly state: 'unknown' }
  | { readonly state: 'unreachable'; readonly failure: ApiFailure }
  | { readonly state: 'signed-out'; readonly failure?: ApiFailure }
  /** Counts only while `sessionExpired` is false. */
  | { readonly state: 'signed-in'; readonly account: Account };

/** The item of the tab's storage with the page from which the browser left for the provider. */
const placeItem = 'hookmill-sign-in-place';
/** The item with the key of the sign-in. No other port of this host can read or write it, as it can the cookie. */
const attemptItem = 'hookmill-sign-in-key';

export const session = signal<Session>({ state: 'unknown' });

/** Finishes a sign-in if a provider sent the browser back; otherwise resumes the session, if there is one. */
export async function resumeSession(): Promise<void> {
  if (location.pathname === signInPath && location.search !== '') return finishSignIn();
  try {
    session.value = { state: 'signed-in', account: await callApi('get', '/session', {}) };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    session.value = error.problem ? { state: 'signed-out' } : { state: 'unreachable', failure: error };
  }
}

/** Whether the person may change something in the factory, or in all of them (null). */
export function mayManage(factory: string | null): boolean {
  const current = session.value;
  return current.state === 'signed-in' && findPermission(current.account.grants, factory) === 'manage';
}

/** Signs in with an API token. Fails with an ApiFailure if the API refuses it. */
export async function signIn(token: string): Promise<void> {
  enter(await callApi('post', '/session', { body: { token } }));
}

/** Leaves for the provider. Fails with an ApiFailure if it cannot be reached. */
export async function leaveForProvider(): Promise<void> {
  const { url, attemptKey } = await callApi('post', '/sign-in', { body: {} });
  sessionStorage.setItem(attemptItem, attemptKey);
  sessionStorage.setItem(placeItem, location.hash);
  location.assign(url);
}

async function finishSignIn(): Promise<void> {
  const query = location.search;
  // The place was in this tab's own storage, and can only be a page of the dashboard.
  const place = sessionStorage.getItem(placeItem) ?? '';
  const attemptKey = sessionStorage.getItem(attemptItem) ?? '';
  for (const item of [placeItem, attemptItem]) sessionStorage.removeItem(item);
  history.replaceState(null, '', `/${place.startsWith('#') ? place : ''}`);
  dispatchEvent(new Event('hashchange'));
  try {
    enter(await callApi('post', '/sign-in/answer', { body: { query, attemptKey } }));
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    session.value = { state: 'signed-out', failure: error };
  }
}

function enter({ sessionKey, ...account }: Account & { readonly sessionKey: string }): void {
  keepSessionKey(sessionKey);
  session.value = { state: 'signed-in', account };
  if (!sessionExpired.value) return;
  sessionExpired.value = false;
  readAgain();
}

export async function signOut(): Promise<void> {
  await callApi('delete', '/session', {});
  forgetSessionKey();
  session.value = { state: 'signed-out' };
}
