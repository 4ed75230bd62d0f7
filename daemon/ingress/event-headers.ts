import type { IncomingHttpHeaders } from 'node:http';
import { type EventHeaders, eventHeaderCharsMax } from '../../schema/event-headers.ts';
import { decodeHeaderValue, readHeaderValue } from './header-value.ts';

/**
 * Collects the headers that are kept of a delivery, by their names in lower case. Looks up each name, however many
 * headers were sent. Values are kept as UTF-8 if they are valid, otherwise as Latin-1.
 */
export function collectEventHeaders(headers: IncomingHttpHeaders, names: readonly string[]): EventHeaders {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = readHeaderValue(headers, name);
    if (value !== undefined) kept[name] = cut(decodeHeaderValue(value) ?? value);
  }
  return kept;
}

function cut(text: string): string {
  return text.length > eventHeaderCharsMax
    ? `${text.slice(0, eventHeaderCharsMax - 1).toWellFormed()}…`
    : text;
}
