import { parseJsonText } from '../json/parse-json-text.ts';
import { schemes } from '../signatures/schemes.ts';
import type { EventHeaders } from './headers.ts';

/** The keys of a payload in which senders name the type of an event. */
export const typeKeys = ['type', 'event', 'event_type', 'eventType', 'event_name'];

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

/**
 * Whether a delivery names this event type: as the value of an event header, as in `X-GitHub-Event: push`, or in its
 * payload, under `type`, `event`, `event_type`, `eventType` or `event_name`.
 */
export function isOfEventType(eventType: string, headers: EventHeaders, body: string): boolean {
  if (Object.values(headers).includes(eventType)) return true;
  const payload: unknown = parseJsonText(body);
  if (typeof payload !== 'object' || payload === null) return false;
  const fields = new Map(Object.entries(payload));
  return typeKeys.some(key => fields.get(key) === eventType);
}
