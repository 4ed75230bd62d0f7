import type { z } from 'zod';
import type { missedAnswer } from '../../schema/api/answers.ts';

export type MissedPart = z.output<typeof missedAnswer>;
export type MissedEvent = MissedPart['events'][number];

/** What attempts say of an event, whatever is known of it here. */
export type FoundEvent = Omit<MissedEvent, 'isInFlight' | 'asked'>;

/** Merges two findings of an event. An attempt that both have counts once: new attempts move others to later pages. */
export function mergeEvent<Event extends FoundEvent>(before: Event | undefined, later: Event): Event {
  if (!before) return later;
  const [newest, oldest] = later.at > before.at ? [later, before] : [before, later];
  const attemptIds = [...new Set([...newest.attemptIds, ...oldest.attemptIds])];
  const firstAt = before.firstAt < later.firstAt ? before.firstAt : later.firstAt;
  return { ...newest, firstAt, attemptIds, attempts: attemptIds.length };
}

/**
 * Merges the parts of a list, and returns the events that are missed, in the order in which they happened. An event whose
 * newest attempt may still arrive is not.
 */
export function mergeMissed(parts: readonly { readonly events: readonly MissedEvent[] }[]): MissedEvent[] {
  const merged = new Map<string, MissedEvent>();
  for (const { events } of parts)
    for (const event of events) merged.set(event.eventId, mergeEvent(merged.get(event.eventId), event));
  return [...merged.values()]
    .filter(({ isInFlight }) => !isInFlight)
    .sort((a, b) => a.firstAt.localeCompare(b.firstAt));
}
