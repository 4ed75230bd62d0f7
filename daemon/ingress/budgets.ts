import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

const minuteSeconds = 60;

/** Limits that an operator can set; `settings.ts` has their defaults. */
export interface BudgetLimits {
  /** Authenticated deliveries per minute and webhook. */
  readonly deliveriesPerMinute: number;
  /** Failed attempts per minute, webhook and client address. */
  readonly failedAuthPerMinute: number;
  /** Failed attempts per minute and webhook, over all addresses. */
  readonly failedAuthPerMinuteTotal: number;
}

/** A budget that is used up. */
export interface Spent {
  /** Whole seconds until the next attempt is allowed. */
  readonly retryAfterSeconds: number;
}

export interface Budgets {
  /** Returns Spent if this address failed so often that its next attempt must not be verified. */
  checkGuessing(uid: string, clientAddress: string): Promise<Spent | undefined>;
  /** Counts a failed attempt. Returns Spent if there are now too many to log this one. */
  countFailure(uid: string, clientAddress: string): Promise<Spent | undefined>;
  /** Counts an authenticated delivery. Returns Spent if it is over the rate limit. */
  countDelivery(uid: string): Promise<Spent | undefined>;
}

/** Creates budgets in this process's memory. Failed attempts never count as deliveries. */
export function createMemoryBudgets(limits: BudgetLimits): Budgets {
  const createLimiter = (points: number) => new RateLimiterMemory({ points, duration: minuteSeconds });
  const deliveries = createLimiter(limits.deliveriesPerMinute);
  const failures = createLimiter(limits.failedAuthPerMinute);
  const failuresTotal = createLimiter(limits.failedAuthPerMinuteTotal);
  return {
    checkGuessing: async (uid, clientAddress) => {
      // Usually no address failed in this minute, so this one look-up is enough.
      if (!(await failuresTotal.get(uid))) return undefined;
      const spent = await failures.get(`${uid} ${clientAddress}`);
      return spent && spent.consumedPoints >= limits.failedAuthPerMinute ? toSpent(spent) : undefined;
    },
    countFailure: async (uid, clientAddress) =>
      (await consume(failuresTotal, uid)) ??
      // The total is counted first because it limits how many addresses are kept in memory.
      (await consume(failures, `${uid} ${clientAddress}`)),
    countDelivery: uid => consume(deliveries, uid),
  };
}

async function consume(limiter: RateLimiterMemory, key: string): Promise<Spent | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return toSpent(rejection);
    throw rejection;
  }
}

function toSpent({ msBeforeNext }: RateLimiterRes): Spent {
  return { retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) };
}
