import { toMs } from '../../schema/time-units.ts';
import { UsageError } from '../exit-status.ts';

const relative = /^(?:\d{1,6}[smhdw])+$/;
// ISO 8601 as RFC 3339 has it; without an offset, it is a local time.
const absolute = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)([Zz]|[+-]\d\d:\d\d)?)?$/;

/** Parses a span of time to ms, such as `90s`, `1h30m` or `7d`; undefined for any other text. */
export function parseSpanMs(text: string): number | undefined {
  if (!relative.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)(\w)/g)];
  return parts.reduce((sumMs, [, count = '', unit = '']) => sumMs + toMs(count, unit), 0);
}

/** Parses the same, above zero. Fails with a UsageError for any other text. */
export function requireSpanMs(text: string): number {
  const ms = parseSpanMs(text);
  if (ms) return ms;
  throw new UsageError(`"${text}" is not a time; write it as in 30m, 2h or 7d`);
}

/**
 * Parses a time to ms: a span before now (`90s`, `30m`, `1h30m`, `7d`), a time of RFC 3339 (`2026-01-31T14:05Z`), or a
 * local date or time.
 */
export function parseTime(text: string, nowMs = Date.now()): number {
  const spanMs = parseSpanMs(text);
  if (spanMs !== undefined) return nowMs - spanMs;
  const [, year, month, day, time = '00:00', offset = ''] = absolute.exec(text) ?? [];
  const atMs = Date.parse(`${year}-${month}-${day}T${time}${offset.toUpperCase()}`);
  // JavaScript takes 31 April for 1 May.
  const exists =
    new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
  if (!Number.isNaN(atMs) && exists) return atMs;
  throw new UsageError(`"${text}" is not a time; write it as in 2h, 7d, 2026-01-31 or 2026-01-31T14:05Z`);
}
