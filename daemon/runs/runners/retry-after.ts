/** @limit Longest wait that a receiver may ask for with `Retry-After`, in seconds: a longer one is taken for a mistake. */
const retryAfterSecondsMax = 3600;

// RFC 9110 §5.6.7, the only form that senders may use since 1999: "Sun, 06 Nov 1994 08:49:37 GMT".
const imfFixdate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** How long a `Retry-After` header (RFC 9110 §10.2.3) asks to wait, bounded; undefined if it asks nothing readable. */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  const waitMs = waitOf(header?.trim() ?? '', nowMs);
  if (Number.isNaN(waitMs)) return undefined;
  return Math.min(Math.max(0, waitMs), retryAfterSecondsMax * 1000);
}

function waitOf(text: string, nowMs: number): number {
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000;
  return imfFixdate.test(text) ? Date.parse(text) - nowMs : Number.NaN;
}
