import type { z } from 'zod';
import type { redeliverRequest } from '../../schema/api/requests.ts';
import { type AskedEvent, askedKept, type SenderState } from '../../schema/sender.ts';
import { dayMs, hourMs } from '../../schema/time-units.ts';
import type { redeliverAnswer } from '../../schema/views/senders.ts';

/** The result of one look at the provider of a webhook. */
export interface Watched {
  /** Why the provider could not be asked or read; null: it was. */
  readonly problem: string | null;
  /** Events to ask for, in the order in which they happened: only with `recover: true`. */
  readonly toAsk: RedeliverRequest['events'];
  /** When its log was read, in ms. */
  readonly listedAtMs: number;
}

export type RedeliverRequest = z.output<typeof redeliverRequest>;
export type Redelivered = z.output<typeof redeliverAnswer>;

/** The result of one part of a recovery, or why the provider could not be asked. */
export type Recovered = Redelivered | { readonly problem: string };

/** @limit Time in which a delivery of a provider may still arrive, in ms: GitHub gives up after 10 s, and sends again within seconds of a request. */
export const inFlightMs = 60_000;
/** @limit Longest pause after a request for an event that did not arrive, in ms: the first is a minute, and each one ten times as long as the one before. */
const pauseMaxMs = 6 * hourMs;
/** @limit Events of a webhook that the daemon asks for within a day: a longer outage is for a person to look at. */
export const recoveredPerDay = 1_000;
/** @limit Age in ms up to which it is kept that an event was asked for: no provider keeps its log for longer. */
const askedKeptMs = 8 * dayMs;
/** Part of a minute's pace that is left for a provider whose clock runs differently, in ms. */
const paceSlackMs = 1_000;
const minuteMs = 60_000;

/** A request for one event. */
export interface EventAsk {
  readonly eventId: string;
  /** The attempt that the provider shall repeat. */
  readonly attemptId: string;
  /** When the log was read. */
  readonly listedAtMs: number;
  /** Whether it may be asked for again. */
  readonly again: boolean;
  readonly byDaemon: boolean;
}

export interface AskRules {
  readonly nowMs: number;
  /** Events that may be asked for within a minute. */
  readonly perMinute: number;
  /** When events of other webhooks were asked for that share the limits of the provider. */
  readonly othersAtMs: readonly number[];
  /** The events among those that were asked for that have arrived. */
  readonly accepted: ReadonlySet<string>;
}

/** Whether an event may be asked for now. Without `waitMs`, the event itself must be waited for, not the pace. */
export type Decision =
  | { readonly kind: 'ask'; readonly state: SenderState }
  | { readonly kind: 'too-soon'; readonly waitMs?: number }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Decides by what was asked before whether an event may be asked for, and returns the state in which it was. It is asked for
 * once. It may be asked for again only by whoever has read the provider's log since, and saw that it is due, or insists.
 */
export function decideAsk(state: SenderState, ask: EventAsk, rules: AskRules): Decision {
  const { nowMs } = rules;
  const before = state.asked.find(({ eventId }) => eventId === ask.eventId);
  if (before) {
    if (judgeAsked(before, nowMs) === 'arriving') return { kind: 'too-soon' };
    const isSeen = Date.parse(before.at) + inFlightMs <= ask.listedAtMs;
    if (!isSeen || !ask.again)
      return { kind: 'refused', reason: `it was asked for at ${before.at}, and has not arrived` };
  }
  const waitMs = findWait(state, ask, rules);
  if (waitMs > 0) return { kind: 'too-soon', waitMs };
  const others = makeRoom(
    state.asked.filter(asked => asked !== before),
    rules,
  );
  if (others.length >= askedKept) {
    const reason = `${others.length} events were asked for and have not arrived; correct the cause first`;
    return { kind: 'refused', reason };
  }
  const { eventId, byDaemon } = ask;
  const times = (before?.times ?? 0) + 1;
  const at = new Date(nowMs).toISOString();
  const asked: AskedEvent = { eventId, times, byDaemon, at, ...(before?.open && { open: before.open }) };
  return { kind: 'ask', state: { ...state, asked: [...others, asked] } };
}

/**
 * Judges an event that was asked for and has not arrived: it may still do so (`arriving`), it is missed again and waits
 * (`paused`), or may be asked for again (`due`). Why it did not arrive does not matter: whatever ends a request, a delivery
 * or the daemon, and whatever the ingress answered, only the arrival of an event ends it.
 */
export function judgeAsked({ at, times }: Pick<AskedEvent, 'at' | 'times'>, nowMs: number): AskedState {
  const sinceMs = nowMs - Date.parse(at);
  if (sinceMs < inFlightMs) return 'arriving';
  return sinceMs < Math.min(inFlightMs * 10 ** (times - 1), pauseMaxMs) ? 'paused' : 'due';
}

export type AskedState = 'arriving' | 'paused' | 'due';

/** The events that the daemon may still ask for today. */
export function countRecoverable({ asked }: SenderState, nowMs: number): number {
  return Math.max(0, recoveredPerDay - recoveredTimes(asked, nowMs).length);
}

/** Takes back that an event was asked for: the provider did not get the request, or did not count it. */
export function unmarkAsked(
  state: SenderState,
  eventId: string,
  before: AskedEvent | undefined,
): SenderState {
  const others = state.asked.filter(asked => asked.eventId !== eventId);
  if (!before) return { ...state, asked: others };
  return { ...state, asked: [...others, before].sort((a, b) => a.at.localeCompare(b.at)) };
}

/** Keeps that an event was asked for, but does not count it: nobody knows whether the provider got the request. */
export function keepUncounted(
  state: SenderState,
  eventId: string,
  before: AskedEvent | undefined,
): SenderState {
  const times = before?.times ?? 0;
  return {
    ...state,
    asked: state.asked.map(asked => (asked.eventId === eventId ? { ...asked, times } : asked)),
  };
}

function findWait({ asked }: SenderState, { byDaemon }: EventAsk, rules: AskRules): number {
  const { nowMs, perMinute, othersAtMs } = rules;
  const times = [...asked.map(({ at }) => Date.parse(at)), ...othersAtMs];
  const paceMs = waitForPlace(times, perMinute, minuteMs + paceSlackMs, nowMs);
  if (!byDaemon) return paceMs;
  return Math.max(paceMs, waitForPlace(recoveredTimes(asked, nowMs), recoveredPerDay, dayMs, nowMs));
}

function recoveredTimes(asked: readonly AskedEvent[], nowMs: number): number[] {
  return asked.flatMap(({ byDaemon, at }) =>
    byDaemon && nowMs - Date.parse(at) < dayMs ? [Date.parse(at)] : [],
  );
}

/** The time until fewer than `max` of these times are within a window. A time in the future counts: a clock was set back. */
function waitForPlace(timesMs: readonly number[], max: number, windowMs: number, nowMs: number): number {
  const inWindow = timesMs.filter(atMs => nowMs - atMs < windowMs).sort((a, b) => a - b);
  const leaves = inWindow[inWindow.length - max];
  return leaves === undefined ? 0 : Math.min(windowMs, leaves + windowMs - nowMs);
}

/** Forgets what is too old and, only if the list is full, what has arrived; but not what counts for the daemon's day. */
function makeRoom(asked: readonly AskedEvent[], { nowMs, accepted }: AskRules): AskedEvent[] {
  const kept = asked.filter(({ at }) => nowMs - Date.parse(at) < askedKeptMs);
  let surplus = kept.length + 1 - askedKept;
  return kept.filter(({ eventId, byDaemon, at }) => {
    const isNeeded = !accepted.has(eventId) || nowMs - Date.parse(at) < (byDaemon ? dayMs : minuteMs);
    if (surplus <= 0 || isNeeded) return true;
    surplus--;
    return false;
  });
}
