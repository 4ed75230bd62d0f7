import { githubError } from './github-access.ts';
import type { ApiAnswer } from './sender-server.ts';

/** A limit that was reached. GitHub answers with either status. */
export type GithubRateLimited = { readonly status?: 403 | 429 } & (
  | { readonly kind: 'primary'; readonly resetSeconds: number }
  /** Without `retryAfterSeconds`, the header is left out and the client must wait for a minute. */
  | { readonly kind: 'secondary'; readonly retryAfterSeconds?: number }
);

export interface GithubRateLimit {
  /** The refusal of a request that is over a limit, which is counted in any case. */
  count(): ApiAnswer | undefined;
  /** The headers of each answer. */
  headers(): Readonly<Record<string, string>>;
  /** Limits requests until the time that answers tell, or, without an argument, no longer. */
  set(limited: GithubRateLimited | undefined): void;
}

const windowMs = 3_600_000;
const defaultWaitSeconds = 60;

/** Rate limits as in docs.github.com, "Rate limits for the REST API" (2026-11). */
export function createGithubRateLimit(now: () => number, requestsPerHour: number): GithubRateLimit {
  let [resetMs, used] = [now() + windowMs, 0];
  let secondary: { readonly untilMs: number; readonly limited: GithubRateLimited } | undefined;
  let status: 403 | 429 = 403;
  const headers = () => ({
    'x-ratelimit-limit': String(requestsPerHour),
    'x-ratelimit-remaining': String(Math.max(0, requestsPerHour - used)),
    'x-ratelimit-used': String(used),
    'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)),
    'x-ratelimit-resource': 'core',
  });
  return {
    headers,
    set: limited => {
      secondary = undefined;
      [resetMs, used] = [now() + windowMs, 0];
      status = limited?.status ?? 403;
      if (limited?.kind === 'primary') {
        [resetMs, used] = [now() + limited.resetSeconds * 1000, requestsPerHour];
      } else if (limited) {
        const untilMs = now() + (limited.retryAfterSeconds ?? defaultWaitSeconds) * 1000;
        secondary = { untilMs, limited };
      }
    },
    count: () => {
      if (now() >= resetMs) [resetMs, used] = [now() + windowMs, 0];
      used += 1;
      if (used > requestsPerHour)
        return githubError(status, 'API rate limit exceeded for user ID 1.', headers());
      if (!secondary || now() >= secondary.untilMs) return undefined;
      const retryAfter = 'retryAfterSeconds' in secondary.limited;
      const seconds = Math.ceil((secondary.untilMs - now()) / 1000);
      return githubError(status, secondaryMessage, retryAfter ? { 'retry-after': String(seconds) } : {});
    },
  };
}

const secondaryMessage =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
