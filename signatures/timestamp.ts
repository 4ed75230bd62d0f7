import type { SignatureTimestamp, TimestampUnit } from './description.ts';
import type { VerificationFailure } from './verify.ts';

/** @limit Largest age of a signature's timestamp, and largest clock skew ahead, in seconds: payment providers and Standard Webhooks ask for five minutes. */
export const signatureAgeSecondsMax = 300;

/** Milliseconds since 1970; undefined unless the whole text is a timestamp of its unit. */
export function parseTimestamp(text: string, unit: TimestampUnit): number | undefined {
  switch (unit) {
    case 's':
      return /^[0-9]{1,11}$/.test(text) ? Number(text) * 1000 : undefined;
    case 'ms':
      return /^[0-9]{1,14}$/.test(text) ? Number(text) : undefined;
    case 'iso8601':
      return parseIso8601(text);
  }
}

export function formatTimestamp(atMs: number, unit: TimestampUnit): string {
  switch (unit) {
    case 's':
      return String(Math.floor(atMs / 1000));
    case 'ms':
      return String(Math.floor(atMs));
    case 'iso8601':
      return new Date(atMs).toISOString();
  }
}

/** Why a timestamp is refused: it is none, or outside its window, whose ends are inside. */
export function timestampFailure(
  text: string | undefined,
  { unit, toleranceSeconds }: SignatureTimestamp,
  nowMs: number,
): VerificationFailure | undefined {
  if (text === undefined) return { code: 'timestamp-missing' };
  const atMs = parseTimestamp(text, unit);
  if (atMs === undefined) return { code: 'timestamp-malformed' };
  if (toleranceSeconds === undefined) return undefined;
  const ageSeconds = (nowMs - atMs) / 1000;
  if (ageSeconds > toleranceSeconds) return { code: 'timestamp-too-old', seconds: Math.ceil(ageSeconds) };
  if (-ageSeconds > toleranceSeconds) return { code: 'timestamp-ahead', seconds: Math.ceil(-ageSeconds) };
  return undefined;
}

/** The timestamp at a dotted path of a JSON body, as text; undefined if there is none. */
export function bodyTimestamp(body: Buffer, path: string): string | undefined {
  let at: unknown;
  try {
    at = JSON.parse(body.toString());
  } catch {
    return undefined;
  }
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return typeof at === 'string' || typeof at === 'number' ? String(at) : undefined;
}

// RFC 3339 section 5.6, of which ISO 8601 timestamps in webhooks are instances.
const iso8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

function parseIso8601(text: string): number | undefined {
  const atMs = iso8601.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}
