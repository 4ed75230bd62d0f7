import { ApiProblem } from '../../../schema/api/problems.ts';
import { WindowCounter } from '../../http/window-counter.ts';

/** @limit Failed attempts to sign in, per minute and client address: a person makes fewer typos. */
const signInAttemptsPerMinute = 10;

export interface SignInAttempts {
  /** Counts an attempt before it is checked. Fails with `too-many-attempts` if this address has none left in this minute. */
  begin(clientAddress: string): void;
  /** Takes an attempt back that was right. */
  succeed(clientAddress: string): void;
}

export function createSignInAttempts(monotonicMs: () => number): SignInAttempts {
  const attempts = new WindowCounter(monotonicMs);
  return {
    begin: clientAddress => {
      const window = attempts.find(clientAddress);
      if (!window || window.count < signInAttemptsPerMinute) {
        attempts.count(clientAddress);
        return;
      }
      const retryAfterSeconds = attempts.secondsLeft(window);
      const detail = `retry after ${retryAfterSeconds} s`;
      throw new ApiProblem('too-many-attempts', { detail }, { retryAfterSeconds });
    },
    succeed: clientAddress => attempts.takeBack(clientAddress),
  };
}
