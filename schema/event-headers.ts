import { z } from 'zod';

/** @limit Most headers that `keepHeaders` lists: with the fixed ones, a delivery keeps at most 16. */
export const keepHeadersMax = 8;

/** The request headers that are kept of a delivery, with their names in lower case. Never credentials or signatures. */
export type EventHeaders = Readonly<Record<string, string>>;

/** The event header by which runs find the trace of their delivery's request (W3C Trace Context). hookmill itself adds it while it traces. */
export const traceHeader = 'hookmill-traceparent';

/** Event headers that a person writes, with names in any case. */
export const eventHeadersShape = z
  .record(z.string(), z.string())
  .transform((headers): EventHeaders => withLowerNames(headers));

/** The same names in lower case, as request headers are looked up. */
export function withLowerNames<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
