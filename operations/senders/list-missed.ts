import type { z } from 'zod';
import type { missedRequest } from '../../schema/api/requests.ts';
import {
  type FoundEvent,
  type MissedEvent,
  type MissedPart,
  mergeEvent,
} from '../../schema/clients/missed-events.ts';
import { deliveryDaysKept } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import { findSenderState, type SenderState } from '../../schema/sender.ts';
import { dayMs } from '../../schema/time-units.ts';
import type { AttemptsPage } from '../../senders/provider-client.ts';
import { inFlightMs, isLost } from './asked-events.ts';
import { type OpenHook, openHook } from './check-sender.ts';
import { compileMatches, type MatchEvent } from './match-event.ts';
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
  const startMs = performance.now();
  try {
    const opened = await openHook(deps, webhook);
    const entriesEnd = Math.min(entriesMax, entries + partEntriesMax);
    while (next !== null && entries < entriesEnd && performance.now() - startMs < partMs) {
      const { attempts, next: after } = await readPage(deps, opened, next);
      addAttempts(
        events,
        attempts.filter(({ atMs }) => atMs >= sinceMs),
        match,
      );
      entries += attempts.length;
      const isEnd = attempts.length > 0 && attempts.every(({ atMs }) => atMs < sinceMs);
      next = isEnd ? null : after;
    }
    return { events, entries, next };
  } catch (error) {
    return { events, entries, next, waitMs: waitOrRefuse(error) };
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
    events.set(eventId, mergeEvent(events.get(eventId), found));
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
    const isOver = before !== undefined && nowMs - Date.parse(before.at) >= inFlightMs;
    const isInFlight = nowMs - Date.parse(event.at) < inFlightMs;
    return {
      ...{ ...event, isInFlight },
      asked: before ? { at: before.at, isLost: isOver && isLost(before, event) } : null,
    };
  });
}
