import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Run } from '../../store/delivery-log.ts';

/** An attempt at a run, by the claim that began it. */
export type CallbackAttempt = Pick<Run, 'id' | 'claims'>;

/** The URLs to which receivers report. Nothing of them is stored: each token is made from the attempt and the key. */
export interface Callbacks {
  /** The URL for the reports of one attempt. It is a credential. */
  createUrl(attempt: CallbackAttempt): string;
  /** The attempt that a path names; undefined unless its token is right. */
  findAttempt(path: string): CallbackAttempt | undefined;
}

/** What the paths of callbacks begin with. */
export const callbackPrefix = '/callbacks/';

const pathPattern = /^\/callbacks\/(run_[0-9a-z]{26})\/([1-9][0-9]{0,14})\/([A-Za-z0-9_-]{43})$/;

/**
 * Creates callback URLs with the first of these keys, and checks them with all: those of before the key was changed are
 * valid too. The keys are used for nothing else.
 */
export function openCallbacks(keys: readonly [KeyObject, ...KeyObject[]], baseUrl: () => string): Callbacks {
  const makeToken = ({ id, claims }: CallbackAttempt, key: KeyObject) =>
    createHmac('sha256', key).update(`${id}\n${claims}`).digest('base64url');
  return {
    createUrl: attempt =>
      `${baseUrl()}${callbackPrefix}${attempt.id}/${attempt.claims}/${makeToken(attempt, keys[0])}`,
    findAttempt: path => {
      const [, id, claims, token] = pathPattern.exec(path) ?? [];
      if (id === undefined || token === undefined) return undefined;
      const attempt = { id, claims: Number(claims) };
      const isRight = (key: KeyObject) =>
        timingSafeEqual(Buffer.from(token), Buffer.from(makeToken(attempt, key)));
      return keys.some(isRight) ? attempt : undefined;
    },
  };
}
