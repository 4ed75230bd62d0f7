export interface BackOff {
  /** The wait after the first failure, in ms. */
  readonly firstMs: number;
  /** The longest wait, in ms. */
  readonly maxMs: number;
}

/**
 * Computes the wait in ms after a number of failures in a row. It doubles with each failure, up to the maximum. Random
 * jitter (`chance`, 0–1) shortens it by up to half, so that callers that failed together do not retry together.
 */
export function backOffMs(failures: number, { firstMs, maxMs }: BackOff, chance: number): number {
  const fullMs = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return Math.round(fullMs * (1 - chance / 2));
}

/** @limit Longest wait that a server may ask hookmill for with `Retry-After`, in seconds: a longer one is probably a mistake. */
const retryAfterSecondsMax = 3600;

// RFC 9110 §5.6.7, the only form that senders may use since 1999: "Sun, 06 Nov 1994 08:49:37 GMT".
const imfFixdate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses a `Retry-After` header (RFC 9110 §10.2.3) to a bounded wait in ms; undefined if it is not valid. */
export function parseRetryAfterMs(header: string | null | undefined, nowMs: number): number | undefined {
  const waitMs = parseWaitMs(header?.trim() ?? '', nowMs);
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(0, waitMs), retryAfterSecondsMax * 1000);
}

function parseWaitMs(text: string, nowMs: number): number {
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  return imfFixdate.test(text) ? Date.parse(text) - nowMs : Number.NaN;
}
