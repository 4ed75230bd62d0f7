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

/** @limit Callers that may use up their requests of a minute on one factory: the operator's, who may manage all, are not counted. */
const busyCallersMax = 10;

/** Bounds how often somebody may call the management API, so that nobody keeps it busy. */
export interface RequestRate {
  /** Counts a request of a token, a person or an address. Fails with `too-many-requests` beyond the limit of a minute. */
  count(of: string): void;
  /** Counts a request on a factory, of a caller who may not act on all factories. Fails as `count` does. */
  countFactory(factory: string): void;
}

/** Creates a rate in this process's memory. */
export function createRequestRate(perMinute: number, monotonicMs: () => number): RequestRate {
  const requests = new WindowCounter(monotonicMs);
  const count = (of: string, max: number, whose = '') => {
    const window = requests.count(of);
    if (window.count <= max) return;
    const retryAfterSeconds = requests.secondsLeft(window);
    const detail = `${max} requests per minute${whose}; retry after ${retryAfterSeconds} s`;
    throw new ApiProblem('too-many-requests', { detail }, { retryAfterSeconds });
  };
  return {
    count: of => count(of, perMinute),
    countFactory: factory => count(`factory ${factory}`, perMinute * busyCallersMax, ' of the factory'),
  };
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
