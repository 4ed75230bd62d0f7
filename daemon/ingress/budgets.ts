import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

const minuteSeconds = 60;

/** The limits that an operator may set; `settings.ts` has their defaults. */
export interface BudgetLimits {
  /** Authenticated deliveries a minute and webhook. */
  readonly deliveriesPerMinute: number;
  /** Failed attempts a minute, webhook and client address. */
  readonly failedAuthPerMinute: number;
  /** Failed attempts a minute and webhook, over all addresses. */
  readonly failedAuthPerMinuteTotal: number;
}

/** Spent: how long to wait, in whole seconds, until the next attempt is let through. */
export interface Spent {
  readonly retryAfterSeconds: number;
}

export interface Budgets {
  /** Spent if this address failed so often that its next attempt is not even looked at. */
  guessing(uid: string, clientAddress: string): Promise<Spent | undefined>;
  /** Counts a failed attempt. Spent if the webhook had so many from all addresses that it is no longer logged. */
  countFailure(uid: string, clientAddress: string): Promise<Spent | undefined>;
  /** Counts an authenticated delivery. */
  countDelivery(uid: string): Promise<Spent | undefined>;
}

/** Budgets in this process's memory. The two of failed attempts are apart from that of deliveries. */
export function memoryBudgets(limits: BudgetLimits): Budgets {
  const limiter = (points: number) => new RateLimiterMemory({ points, duration: minuteSeconds });
  const deliveries = limiter(limits.deliveriesPerMinute);
  const failures = limiter(limits.failedAuthPerMinute);
  const failuresTotal = limiter(limits.failedAuthPerMinuteTotal);
  return {
    guessing: async (uid, clientAddress) => {
      // No failure of any address in this minute: the usual case, and one look-up.
      if (!(await failuresTotal.get(uid))) return undefined;
      const spent = await failures.get(`${uid} ${clientAddress}`);
      return spent && spent.consumedPoints >= limits.failedAuthPerMinute ? retryAfter(spent) : undefined;
    },
    countFailure: async (uid, clientAddress) =>
      (await consume(failuresTotal, uid)) ??
      // The total comes first: it bounds how many addresses are remembered.
      (await consume(failures, `${uid} ${clientAddress}`)),
    countDelivery: uid => consume(deliveries, uid),
  };
}

async function consume(limiter: RateLimiterMemory, key: string): Promise<Spent | undefined> {
  try {
    await limiter.consume(key);
    return undefined;
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return retryAfter(rejection);
    throw rejection;
  }
}

function retryAfter({ msBeforeNext }: RateLimiterRes): Spent {
  return { retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) };
}
