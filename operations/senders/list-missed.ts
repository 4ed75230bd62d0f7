import type { z } from 'zod';
import type { missedRequest } from '../../schema/api/requests.ts';
import type { AppliedAutomation, AppliedWebhook } from '../../schema/applied-state.ts';
import {
  addEvent,
  type FoundEvent,
  type MissedEvent,
  type MissedPart,
} from '../../schema/clients/missed-events.ts';
import { deliveryDaysKept } from '../../schema/delivery.ts';
import {
  compileHeaderFilter,
  compilePayloadFilter,
  type ValueTest,
} from '../../schema/filters/payload-filter-match.ts';
import { Refusal } from '../../schema/refusal.ts';
import { findSenderState, type SenderState } from '../../schema/sender.ts';
import { dayMs } from '../../schema/time-units.ts';
import { type AttemptsPage, findNewest, type ProviderAttempt } from '../../senders/provider-client.ts';
import { findScheme } from '../../signatures/schemes.ts';
import { inFlightMs, judgeAsked } from './asked-events.ts';
import { type OpenHook, openHook } from './check-sender.ts';
import { type SenderDeps, type SentWebhook, waitOrRefuse } from './open-sender.ts';

/** @limit Entries of a provider's log that are read for one list: the log of GitHub has one for each attempt of three days. */
const entriesMax = 50_000;
/** @limit Entries of a provider's log that are read for one part of a list: they are in memory, and in one answer. */
const partEntriesMax = 2_000;
/** @limit Time in which a part of a provider's log is read, in ms: commands wait for 30 s, and a request takes up to 15 s. */
const partMs = 10_000;
/** The time that the delivery log can know everything of, in ms. */
const comparableMs = deliveryDaysKept * dayMs;

/**
 * Reads a part of the provider's log of a webhook, and lists the events in it that the webhook has not accepted, whatever
 * the provider got as an answer: a proxy may have sent that. A later part may have earlier attempts of the same events
 * (`mergeMissed`). Fails with `sender-failed`.
 */
export async function listMissed(
  deps: SenderDeps,
  webhook: SentWebhook,
  { since, all, cursor }: z.output<typeof missedRequest>,
): Promise<MissedPart> {
  const { factory } = deps;
  const nowMs = factory.now().getTime();
  const sinceMs = Math.max(since, nowMs - comparableMs);
  const { automations } = await factory.readState();
  const read = await readLog(deps, webhook, {
    ...{ sinceMs, from: parseCursor(cursor) },
    match: compileMatches(webhook, automations),
  });
  const wanted = [...read.events.values()].filter(({ matches }) => all || matches.length > 0);
  const events = await leaveOutAccepted(factory.store.deliveries, webhook, wanted);
  const states = await factory.store.senderStates.read(factory.name);
  const state = findSenderState(states, webhook.uid);
  const { next, entries } = read;
  const isCut = next !== null && entries >= entriesMax;
  return {
    events: viewEvents(events, state, nowMs),
    read: {
      at: new Date(nowMs).toISOString(),
      since: new Date(sinceMs).toISOString(),
      isShortened: since < sinceMs,
      newestAt: read.newestMs === null ? null : new Date(read.newestMs).toISOString(),
      entries,
      isComplete: next === null,
    },
    next: next === null || isCut ? null : renderCursor({ page: next, entries }),
    nextInMs: read.waitMs ?? null,
  };
}

/** The page of a provider's log at which a part begins, and the entries before it. An empty page is the first one. */
interface LogPlace {
  readonly page: string;
  readonly entries: number;
}

function parseCursor(cursor = '0:'): LogPlace {
  const [, entries, page] = /^(\d{1,6}):(.*)$/s.exec(cursor) ?? [];
  if (entries === undefined || page === undefined)
    throw new Refusal('cursor-unknown', { detail: 'the cursor is not one of a list of missed events' });
  return { page, entries: Number(entries) };
}

function renderCursor({ page, entries }: LogPlace): string {
  return `${entries}:${page}`;
}

interface Read {
  readonly events: ReadonlyMap<string, FoundEvent>;
  readonly entries: number;
  readonly newestMs: number | null;
  /** Where the next part begins; null: everything was read. */
  readonly next: string | null;
  readonly waitMs?: number;
}

interface Reading {
  readonly sinceMs: number;
  readonly from: LogPlace;
  readonly match: MatchEvent;
}

async function readLog(deps: SenderDeps, webhook: SentWebhook, reading: Reading): Promise<Read> {
  const { sinceMs, from, match } = reading;
  const events = new Map<string, FoundEvent>();
  let { page: next, entries }: { page: string | null; entries: number } = from;
  let newestMs: number | null = null;
  const startMs = performance.now();
  try {
    const opened = await openHook(deps, webhook);
    const entriesEnd = Math.min(entriesMax, entries + partEntriesMax);
    while (next !== null && entries < entriesEnd && performance.now() - startMs < partMs) {
      const page = await readPage(deps, opened, next);
      const { attempts } = page;
      addAttempts(
        events,
        attempts.filter(({ atMs }) => atMs >= sinceMs),
        match,
      );
      entries += page.entries;
      newestMs = findNewest([newestMs, page.newestMs].filter(ms => ms !== null));
      // A provider that answers empty pages without end is done, too, and one that says nothing of any entry.
      const isEnd = page.newestMs === null || page.newestMs < sinceMs;
      next = isEnd ? null : page.next;
    }
    return { events, entries, newestMs, next };
  } catch (error) {
    return { events, entries, newestMs, next, waitMs: waitOrRefuse(error) };
  }
}

function readPage(
  { waitOutside }: SenderDeps,
  { client, hook }: OpenHook,
  page: string,
): Promise<AttemptsPage> {
  return waitOutside(() => client.listAttempts(hook.id, page === '' ? null : page));
}

/** Adds attempts to their events. They come newest first; attempts of the same moment come in any order. */
function addAttempts(
  events: Map<string, FoundEvent>,
  attempts: AttemptsPage['attempts'],
  match: MatchEvent,
): void {
  for (const attempt of attempts) {
    const { id, eventId, event, action, atMs, status, canRedeliver } = attempt;
    const at = new Date(atMs).toISOString();
    const matches = events.get(eventId)?.matches ?? [...match(attempt)];
    const found = {
      ...{ eventId, event, action, firstAt: at, at, attempts: 1, attemptIds: [id], attemptId: id },
      ...{ status, matches, canRedeliver },
    };
    addEvent(events, found);
  }
}

async function leaveOutAccepted(
  deliveries: SenderDeps['factory']['store']['deliveries'],
  { uid }: Pick<SentWebhook, 'uid'>,
  events: readonly FoundEvent[],
): Promise<FoundEvent[]> {
  const ids = events.map(({ eventId }) => eventId);
  const accepted = new Set(await deliveries.listAcceptedEvents(uid, ids));
  return events.filter(({ eventId }) => !accepted.has(eventId));
}

function viewEvents(events: readonly FoundEvent[], { asked }: SenderState, nowMs: number): MissedEvent[] {
  const askedOf = new Map(asked.map(event => [event.eventId, event]));
  return events.map(event => {
    const before = askedOf.get(event.eventId);
    return {
      ...event,
      // Between clocks that differ by more, nobody can say: to ask too early makes a duplicate at most.
      isInFlight: Math.abs(nowMs - Date.parse(event.at)) < inFlightMs,
      asked: before ? { at: before.at, isDue: judgeAsked(before, nowMs) === 'due' } : null,
    };
  });
}

/** @limit Automations that a missed event names as those that it could match: a list has thousands of events. */
const matchesMax = 20;

type ListedEvent = Pick<ProviderAttempt, 'event' | 'action' | 'payload' | 'canRedeliver'>;

/** Finds the enabled automations that an event could match, some of them if there are many. */
type MatchEvent = (event: ListedEvent) => readonly string[];

interface Matcher {
  readonly automation: string;
  readonly couldMatch: (event: ListedEvent) => boolean;
}

/**
 * Compiles what the triggers of a webhook say of an event as its provider lists it. Headers other than the event header are
 * never listed, so any value is possible. Without a payload, only the filter on `action` can be judged.
 */
function compileMatches(
  { uid, signatureScheme }: Pick<AppliedWebhook, 'uid' | 'signatureScheme'>,
  automations: readonly Pick<AppliedAutomation, 'name' | 'enabled' | 'triggers'>[],
): MatchEvent {
  const eventHeader = findScheme(signatureScheme)?.eventHeaders?.[0]?.toLowerCase();
  const matchers = automations
    .filter(({ enabled }) => enabled)
    .flatMap(({ name, triggers }) =>
      triggers
        .filter(({ filter }) => filter.webhook_ids.includes(uid))
        .map(({ filter }) => ({ automation: name, couldMatch: compileTrigger(filter, eventHeader) })),
    );
  return event => findMatches(matchers, event);
}

function findMatches(matchers: readonly Matcher[], event: ListedEvent): readonly string[] {
  const found = new Set<string>();
  for (const { automation, couldMatch } of matchers) {
    if (found.size === matchesMax) break;
    if (!found.has(automation) && couldMatch(event)) found.add(automation);
  }
  return [...found];
}

function compileTrigger(
  { payload, headers = {} }: AppliedAutomation['triggers'][number]['filter'],
  eventHeader: string | undefined,
): (event: ListedEvent) => boolean {
  const condition = Object.entries(headers).find(([name]) => name.toLowerCase() === eventHeader);
  const isEvent: ValueTest = condition ? compileHeaderFilter({ event: condition[1] }) : () => true;
  const isWhole = compilePayloadFilter(payload);
  const action = payload !== undefined && Object.hasOwn(payload, 'action') ? payload.action : undefined;
  const isAction = compilePayloadFilter(action === undefined ? undefined : { action });
  return ({ event, action, payload, canRedeliver }) => {
    if (!isEvent({ event })) return false;
    if (payload !== undefined) return isWhole(payload);
    // GitLab lists nothing of a payload that it no longer has.
    return !canRedeliver || isAction(action === null ? {} : { action });
  };
}
