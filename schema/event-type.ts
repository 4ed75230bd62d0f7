import { parseJsonText } from '../json/parse-json-text.ts';
import type { EventHeaders } from './event-headers.ts';

/** The keys of a payload in which senders name the type of an event. */
const typeKeys = ['type', 'event', 'event_type', 'eventType', 'event_name'];

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
