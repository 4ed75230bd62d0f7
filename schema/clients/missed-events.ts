import type { z } from 'zod';
import type { missedRequest, redeliverRequest } from '../api/requests.ts';
import type { missedAnswer, redeliverAnswer } from '../views/senders.ts';

export type MissedPart = z.output<typeof missedAnswer>;
export type MissedEvent = MissedPart['events'][number];

/** What attempts say of an event, whatever is known of it here. */
export type FoundEvent = Omit<MissedEvent, 'isInFlight' | 'asked'>;

/**
 * Adds what a log says of an event to the events of its newer entries, of which the first attempts come last. An attempt
 * that stands twice counts once: new attempts move others to later pages.
 */
export function addEvent<Event extends FoundEvent>(events: Map<string, Event>, event: Event): void {
  const before = events.get(event.eventId);
  events.delete(event.eventId);
  events.set(event.eventId, before ? mergeEvent(before, event) : event);
}

function mergeEvent<Event extends FoundEvent>(before: Event, later: Event): Event {
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
  for (const { events } of parts) for (const event of events) addEvent(merged, event);
  // Of one moment, what comes last in the log was first.
  return [...merged.values()]
    .filter(({ isInFlight }) => !isInFlight)
    .reverse()
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

/** @limit Events of one request to ask for: it asks for as many as it can within some seconds. */
const eventsAtOnce = 50;
/** @limit Time between two looks for what has arrived, in ms. */
const pollMs = 1_000;
/** @limit Lists of one redelivery: a request that was lost with an earlier one is repeated after a minute. */
const listsMax = 3;

interface RedeliverDeps {
  readonly client: Omit<MissedClient, 'list'>;
  /** Whether to ask also for what was asked for before, and did not arrive. */
  readonly again: boolean;
  /** Reads the list again. */
  readonly list: () => Promise<MissedList>;
}

export interface Redelivery {
  /** Events that were asked for, and are back. */
  readonly accepted: number;
  /** Events that were asked for, and are not back after a minute. */
  readonly missing: readonly string[];
  readonly refused: readonly { readonly eventId: string; readonly reason: string }[];
}

/** Whether the provider can be asked for an event now: what it was asked for a minute ago may still arrive. */
export function mayBeAsked({ canRedeliver, asked }: MissedEvent, again: boolean): boolean {
  return canRedeliver && (asked === null || asked.isDue || again);
}

/** Whether an event was asked for less than a minute before the list was read, so that it may still arrive. */
function isPending({ asked }: MissedEvent, { read }: MissedList): boolean {
  return asked !== null && !asked.isDue && Date.parse(read.at) - Date.parse(asked.at) < 60_000;
}

interface Progress {
  readonly accepted: Set<string>;
  readonly asked: Set<string>;
  readonly refused: Map<string, string>;
}

/**
 * Asks the provider for all events of a list, and waits until they are back, or for a minute. It may be ended at any time, and
 * done again: what was asked for is stored.
 */
export async function redeliverAll(deps: RedeliverDeps, first: MissedList): Promise<Redelivery> {
  const progress: Progress = { accepted: new Set(), asked: new Set(), refused: new Map() };
  const missing = new Set<string>();
  let list = first;
  for (let lists = 1; ; lists++) {
    const pending = list.events.filter(event => isPending(event, list));
    const chosen = list.events.filter(event => pending.includes(event) || mayBeAsked(event, deps.again));
    for (const event of list.events) if (event.asked && !chosen.includes(event)) missing.add(event.eventId);
    await redeliverList(deps, { list, chosen, progress });
    // The last request of a command that was ended may be lost: only a new list can tell.
    const unknown = pending.filter(({ eventId }) => progress.refused.has(eventId));
    if (unknown.length === 0 || lists === listsMax) break;
    for (const { eventId } of unknown) progress.refused.delete(eventId);
    const again = await deps.list();
    const ids = new Set(unknown.map(({ eventId }) => eventId));
    list = { ...again, events: again.events.filter(({ eventId }) => ids.has(eventId)) };
  }
  deps.client.onProgress('');
  const { accepted, asked, refused } = progress;
  for (const id of asked) if (!accepted.has(id)) missing.add(id);
  return {
    accepted: accepted.size,
    missing: [...missing].filter(id => !accepted.has(id)),
    refused: [...refused].flatMap(([eventId, reason]) => (missing.has(eventId) ? [] : [{ eventId, reason }])),
  };
}

interface Listed {
  readonly list: MissedList;
  readonly chosen: readonly MissedEvent[];
  readonly progress: Progress;
}

async function redeliverList(deps: RedeliverDeps, { list, chosen, progress }: Listed): Promise<void> {
  const { asked, accepted, refused } = progress;
  for (let open = [...chosen]; open.length > 0; ) {
    // Each request looks up all events that were asked for, and adds only as many others as the pace will soon allow.
    const waiting = open.filter(({ eventId }) => asked.has(eventId));
    const next = open.filter(({ eventId }) => !asked.has(eventId)).slice(0, eventsAtOnce);
    const hadAsked = asked.size;
    const nextInMs = await ask(deps, list, { events: [...waiting, ...next], progress });
    open = open.filter(({ eventId }) => !accepted.has(eventId) && !refused.has(eventId));
    deps.client.onProgress(`${asked.size} of ${chosen.length} asked, ${accepted.size} back …`);
    const isGoingOn = asked.size > hadAsked && nextInMs === null;
    if (open.length > 0 && !isGoingOn) await deps.client.wait(Math.min(nextInMs ?? pollMs, pollMs));
  }
}

/** Asks for events, those first that come first; returns the time until the next one may be asked for. */
async function ask(
  { client, again }: RedeliverDeps,
  { read }: MissedList,
  { events, progress }: { readonly events: readonly MissedEvent[]; readonly progress: Progress },
): Promise<number | null> {
  const { accepted, asked, refused } = progress;
  let nextInMs: number | null = null;
  for (let at = 0; at < events.length; at += eventsAtOnce) {
    const some = events.slice(at, at + eventsAtOnce).map(({ eventId, attemptId, asked }) => ({
      ...{ eventId, attemptId, again: again || asked?.isDue === true },
    }));
    const answer = await client.redeliver({ listedAt: read.at, events: some });
    for (const { eventId, result, reason } of answer.events) {
      if (result === 'accepted') accepted.add(eventId);
      if (result === 'asked') asked.add(eventId);
      if (result === 'refused') refused.set(eventId, reason ?? '');
    }
    nextInMs = answer.nextInMs ?? nextInMs;
  }
  return nextInMs;
}
