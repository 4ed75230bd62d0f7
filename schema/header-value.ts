import { isUtf8 } from 'node:buffer';
import { type EventHeaders, eventHeaderCharsMax } from './headers.ts';

/** The headers of a request by their names in lower case, as node has them. A character is a byte. */
export type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads the value of one header by its name in lower case. Several fields of one name are one value, joined with `, `
 * (RFC 9110 section 5.3).
 */
export function readHeaderValue(headers: SentHeaders, name: string): string | undefined {
  // A webhook may name any header, also `constructor`, which every object inherits.
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}

/** Decodes a header value, which node reads as Latin-1: a character is a byte. Undefined if the bytes are not UTF-8. */
export function decodeHeaderValue(latin1: string): string | undefined {
  if (/^[\x20-\x7e]*$/.test(latin1)) return latin1;
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : undefined;
}

/** Encodes text in UTF-8 for a header value: a character of it is a byte, as node sends it. */
export function encodeHeaderValue(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/**
 * Collects the headers that are kept of a delivery, by their names in lower case. Looks up each name, however many
 * headers were sent. Values are kept as UTF-8 if they are valid, otherwise as Latin-1.
 */
export function collectEventHeaders(headers: SentHeaders, names: readonly string[]): EventHeaders {
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
