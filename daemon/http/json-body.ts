import { isUtf8 } from 'node:buffer';
import { parseJsonText } from '../../json/parse-json-text.ts';

/** Parses a body as JSON in UTF-8 (RFC 8259, no byte order mark); undefined if it is something else. Never throws. */
export function parseJsonBody(body: Buffer): { readonly value: unknown } | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    return { value: parseJsonText(body.toString('utf8')) };
  } catch {
    return undefined;
  }
}
