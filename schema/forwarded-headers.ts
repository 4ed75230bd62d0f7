import type { EventHeaders } from './event-headers.ts';

/** Headers of the connection on which a delivery arrived (RFC 9110, section 7.6.1), and of that one request. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The names and values that are sent on with a delivery: not the headers of its connection, in whatever case. */
export function listForwardedHeaders(headers: EventHeaders): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([name]) => !connectionHeaders.has(name.toLowerCase()));
}
