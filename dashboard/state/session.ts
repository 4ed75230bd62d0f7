import { signal } from '@preact/signals';
import { ApiFailure, callApi } from '../api-client.ts';
import type { Identity } from '../api-types.ts';

export type Session =
  | { readonly state: 'unknown' }
  | { readonly state: 'unreachable'; readonly failure: ApiFailure }
  /** `notice` says why somebody who was signed in no longer is. */
  | { readonly state: 'signed-out'; readonly notice?: string }
  | { readonly state: 'signed-in'; readonly identity: Identity };

export const session = signal<Session>({ state: 'unknown' });

export async function resumeSession(): Promise<void> {
  try {
    session.value = { state: 'signed-in', identity: await callApi('get', '/session', {}) };
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    session.value = error.problem ? { state: 'signed-out' } : { state: 'unreachable', failure: error };
  }
}

/** Fails with an ApiFailure if the token is refused. */
export async function signIn(token: string): Promise<void> {
  session.value = { state: 'signed-in', identity: await callApi('post', '/session', { body: { token } }) };
}

export async function signOut(): Promise<void> {
  await callApi('delete', '/session', {});
  session.value = { state: 'signed-out' };
}

/** To be told of every failure: the session may be over. */
export function noticeFailure(error: unknown): void {
  if (!(error instanceof ApiFailure) || error.problem?.status !== 401) return;
  if (session.value.state !== 'signed-in') return;
  session.value = { state: 'signed-out', notice: 'Your session is over. Sign in to go on where you were.' };
}
