import { RateLimiterMemory } from 'rate-limiter-flexible';
import { ApiProblem } from '../../../schema/api/problems.ts';

/** @limit Failed attempts to sign in, per minute and client address: a person makes fewer typos. */
const signInAttemptsPerMinute = 10;

export interface SignInAttempts {
  /** Fails with `too-many-attempts` if this address failed too often in this minute. */
  requireLeft(clientAddress: string): Promise<void>;
  countFailure(clientAddress: string): Promise<void>;
}

export function createSignInAttempts(): SignInAttempts {
  const failures = new RateLimiterMemory({ points: signInAttemptsPerMinute, duration: 60 });
  return {
    requireLeft: async clientAddress => {
      const spent = await failures.get(clientAddress);
      if (!spent || spent.consumedPoints < signInAttemptsPerMinute) return;
      throw new ApiProblem('too-many-attempts', {
        detail: `retry after ${Math.max(1, Math.ceil(spent.msBeforeNext / 1000))} s`,
      });
    },
    countFailure: async clientAddress => {
      await failures.penalty(clientAddress);
    },
  };
}
