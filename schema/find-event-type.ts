import { schemes } from '../signatures/schemes.ts';
import type { EventHeaders } from './event-headers.ts';

/** The headers in which the senders of signature schemes name the type of an event, in lower case. */
const typeHeaders = schemes.flatMap(({ eventHeaders = [] }) => eventHeaders).map(name => name.toLowerCase());

/**
 * The type of an event by its headers only; undefined if none of them names it. `isOfEventType` is true for it. If a scheme
 * has several such headers, the last one is the most specific.
 */
export function findEventType(headers: EventHeaders): string | undefined {
  const name = typeHeaders.findLast(name => headers[name]);
  return name && headers[name];
}
