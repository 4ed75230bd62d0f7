import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { type EventHeaders, eventHeaderCharsMax } from '../../schema/event-headers.ts';

/**
 * Collects the headers that are kept of a delivery, by their names in lower case. Looks up each name, however many
 * headers were sent. Several fields of one name are one value, joined with `, ` (RFC 9110 section 5.3); of those that
 * may be sent only once, such as Content-Type, node keeps the first.
 */
export function collectEventHeaders(headers: IncomingHttpHeaders, names: readonly string[]): EventHeaders {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    if (value !== undefined) kept[name] = toText(typeof value === 'string' ? value : value.join(', '));
  }
  return kept;
}

/** Node reads header values as Latin-1: a character is a byte. They are kept as UTF-8 if they are valid. */
function toText(latin1: string): string {
  if (latin1.length <= eventHeaderCharsMax && /^[\x20-\x7e]*$/.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  const text = isUtf8(bytes) ? bytes.toString() : latin1;
  return text.length > eventHeaderCharsMax
    ? `${text.slice(0, eventHeaderCharsMax - 1).toWellFormed()}…`
    : text;
}
