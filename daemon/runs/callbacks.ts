import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Run } from '../../store/ports/delivery-log.ts';

/** An attempt at a run, by the claim that began it. */
export type CallbackAttempt = Pick<Run, 'id' | 'claims'>;

/** The URLs to which receivers report. None is stored: each has a token, made from the attempt and the key. */
export interface Callbacks {
  /** Creates the URL for the reports of one attempt. It is a credential. */
  createUrl(attempt: CallbackAttempt): string;
  /** The tokens of all URLs that are valid for an attempt. */
  listTokens(attempt: CallbackAttempt): string[];
  /** Finds the attempt that a path names; undefined unless its token is right. */
  findAttempt(path: string): CallbackAttempt | undefined;
}

/** The start of the path of every callback. */
export const callbackPrefix = '/callbacks/';

const pathPattern = new RegExp(
  `^${callbackPrefix}(run_[0-9a-z]{26})/([1-9][0-9]{0,14})/([A-Za-z0-9_-]{43})$`,
);

/**
 * Creates callback URLs with the first of these keys, and checks them with all: URLs from before a change of the key stay
 * valid. The keys must have no other use.
 */
export function openCallbacks(keys: readonly [KeyObject, ...KeyObject[]], baseUrl: () => string): Callbacks {
  const makeToken = ({ id, claims }: CallbackAttempt, key: KeyObject) =>
    createHmac('sha256', key).update(`${id}\n${claims}`).digest('base64url');
  return {
    createUrl: attempt =>
      `${baseUrl()}${callbackPrefix}${attempt.id}/${attempt.claims}/${makeToken(attempt, keys[0])}`,
    listTokens: attempt => keys.map(key => makeToken(attempt, key)),
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
