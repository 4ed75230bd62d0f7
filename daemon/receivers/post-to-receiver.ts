import { parseRetryAfterMs } from '../../schema/retry-waits.ts';

interface ReceiverPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: FormData | Blob | string;
  readonly timeLimitMs: number;
  /** The statuses that are success; without them, 2xx. */
  readonly expectedStatuses?: readonly number[] | undefined;
  /** Ends the request. */
  readonly signal: AbortSignal;
}

/** The result of a request; `afterMs` is the wait that the receiver asks for. */
export type Posted =
  | { readonly kind: 'succeeded'; readonly reason?: undefined }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'retry'; readonly reason: string; readonly afterMs?: number };

/**
 * Posts to a receiver that the operator named. 2xx is success, unless other statuses are expected; 5xx, 429, timeouts and
 * failed connections may be retried; every other answer, including a redirect, is a failure. `collect` gets the answer before its body is closed.
 */
export async function postToReceiver(
  { url, headers, body, timeLimitMs, expectedStatuses, signal }: ReceiverPost,
  nowMs: () => number,
  collect: (response: Response) => Promise<void> = async response => response.body?.cancel(),
): Promise<Posted> {
  const timeLimit = AbortSignal.timeout(timeLimitMs);
  try {
    const response = await fetch(url, {
      ...{ method: 'POST', headers, body, redirect: 'manual' },
      signal: AbortSignal.any([signal, timeLimit]),
    });
    await collect(response);
    return toPosted(response, nowMs(), expectedStatuses);
  } catch (error) {
    return { kind: 'retry', reason: describeFailure(error, timeLimitMs) };
  }
}

function toPosted(
  { ok, status, headers }: Response,
  nowMs: number,
  expectedStatuses?: readonly number[],
): Posted {
  if (expectedStatuses?.includes(status) ?? ok) return { kind: 'succeeded' };
  const expected = ok ? ', which is not in expectedStatuses' : '';
  const reason = `the receiver answered ${status}${expected}`;
  if (status >= 500 || status === 429) {
    const afterMs = parseRetryAfterMs(headers.get('retry-after'), nowMs);
    return afterMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, afterMs };
  }
  if (status >= 300 && status < 400)
    return { kind: 'failed', reason: `${reason}; redirects are not followed` };
  return { kind: 'failed', reason };
}

function describeFailure(error: unknown, timeLimitMs: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `the receiver did not answer within ${timeLimitMs / 1_000} s`;
  if (error.name === 'AbortError') return 'the daemon stopped and ended the request';
  const cause = error.cause instanceof Error ? error.cause : error;
  return `the request failed (${'code' in cause ? cause.code : cause.message})`;
}
