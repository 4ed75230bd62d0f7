import { readJson } from '../json/parse-json-text.ts';
import type { SignatureTimestamp, TimestampUnit } from './description.ts';

export type TimestampFailure =
  | { readonly code: 'timestamp-missing' }
  | { readonly code: 'timestamp-malformed' }
  /** `seconds` is rounded up, so it is always more than the window. */
  | { readonly code: 'timestamp-too-old' | 'timestamp-ahead'; readonly seconds: number };

/**
 * Returns undefined if a timestamp is well formed and inside its window. The age is measured in the timestamp's unit,
 * as the providers' libraries do: against the current second for one in whole seconds, otherwise to the millisecond.
 */
export function checkTimestamp(
  text: string | undefined,
  { unit, toleranceSeconds }: SignatureTimestamp,
  nowMs: number,
): TimestampFailure | undefined {
  if (text === undefined) return { code: 'timestamp-missing' };
  const atMs = parseTimestamp(text, unit);
  if (atMs === undefined) return { code: 'timestamp-malformed' };
  if (toleranceSeconds === undefined) return undefined;
  const ageMs = (unit === 's' ? Math.floor(nowMs / 1000) * 1000 : nowMs) - atMs;
  if (Math.abs(ageMs) <= toleranceSeconds * 1000) return undefined;
  const seconds = Math.ceil(Math.abs(ageMs) / 1000);
  return { code: ageMs > 0 ? 'timestamp-too-old' : 'timestamp-ahead', seconds };
}

export function formatTimestamp(atMs: number, unit: TimestampUnit): string {
  switch (unit) {
    case 's':
      return String(Math.floor(atMs / 1000));
    case 'ms':
      return String(Math.floor(atMs));
    case 'iso8601':
      return new Date(atMs).toISOString();
    case 'iso8601-utc':
      return new Date(atMs).toISOString().replace('Z', '');
  }
}

/** Reads the timestamp at a dotted path of a JSON body, as text; undefined if there is none. */
export function readBodyTimestamp(body: Buffer, path: string): string | undefined {
  let at = readJson(body.toString());
  for (const key of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return typeof at === 'string' || typeof at === 'number' ? String(at) : undefined;
}

/** Parses milliseconds since 1970; undefined unless the whole text is a timestamp in its unit. */
function parseTimestamp(text: string, unit: TimestampUnit): number | undefined {
  switch (unit) {
    case 's':
      return /^[0-9]{1,11}$/.test(text) ? Number(text) * 1000 : undefined;
    case 'ms':
      return /^[0-9]{1,14}$/.test(text) ? Number(text) : undefined;
    case 'iso8601':
      return parseIso8601(text);
    case 'iso8601-utc':
      return parseIso8601(hasZone.test(text) ? text : `${text}Z`);
  }
}

// RFC 3339 section 5.6, a profile of ISO 8601 that all timestamps in webhooks follow.
const iso8601 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const hasZone = /(Z|[+-]\d\d:\d\d)$/;

function parseIso8601(text: string): number | undefined {
  const atMs = iso8601.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}
