import type { z } from 'zod';
import type { missedAnswer, redeliverAnswer } from '../api/answers.ts';
import type { missedRequest, redeliverRequest } from '../api/requests.ts';

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

/** The operations on what a webhook missed, and what a client does while it waits for them. */
export interface MissedClient {
  readonly list: (request: z.input<typeof missedRequest>) => Promise<MissedPart>;
  readonly redeliver: (
    request: z.input<typeof redeliverRequest>,
  ) => Promise<z.output<typeof redeliverAnswer>>;
  readonly wait: (ms: number) => Promise<void>;
  /** Called with what to show meanwhile; with an empty text at the end. */
  readonly onProgress: (text: string) => void;
}

export interface MissedList {
  /** In the order in which they happened. */
  readonly events: readonly MissedEvent[];
  readonly read: MissedPart['read'];
}

/** Lists the events that the provider of a webhook could not deliver, part by part, and waits for its rate limit. */
export async function listMissedEvents(
  { list, wait, onProgress }: MissedClient,
  asked: { readonly since: string; readonly all: boolean },
): Promise<MissedList> {
  const parts: MissedPart[] = [];
  let cursor: string | undefined;
  for (;;) {
    const part = await list({ ...asked, cursor });
    parts.push(part);
    if (part.next === null) break;
    onProgress(`Read ${part.read.entries} entries of the provider's log …`);
    if (part.nextInMs !== null) await wait(part.nextInMs);
    cursor = part.next;
  }
  onProgress('');
  // Requests that were made after the first part began may be missing from it, so its time counts.
  const [first, last] = [parts[0]?.read, parts.at(-1)?.read];
  if (!first || !last) throw new Error('a list has at least one part');
  return { events: mergeMissed(parts), read: { ...last, at: first.at } };
}
