import { ApiProblem } from '../../../schema/api/problems.ts';
import { WindowCounter } from '../../http/window-counter.ts';

/** Bounds how often somebody may call the management API, so that nobody keeps it busy. */
export interface RequestRate {
  /** Counts a request of a token, a person or an address. Fails with `too-many-requests` beyond the limit of a minute. */
  count(of: string): void;
}

/** Creates a rate in this process's memory. */
export function createRequestRate(perMinute: number, monotonicMs: () => number): RequestRate {
  const requests = new WindowCounter(monotonicMs);
  return {
    count: of => {
      const window = requests.count(of);
      if (window.count <= perMinute) return;
      const retryAfterSeconds = requests.secondsLeft(window);
      const detail = `${perMinute} requests per minute; retry after ${retryAfterSeconds} s`;
      throw new ApiProblem('too-many-requests', { detail }, { retryAfterSeconds });
    },
  };
}
