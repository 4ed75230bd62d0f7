import { type MissedEvent, type MissedPart, mergeMissed } from '../../schema/clients/missed-events.ts';
import { deliveryDaysKept } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import { findSenderState, type Missed, type SenderState } from '../../schema/sender.ts';
import { dayMs } from '../../schema/time-units.ts';
import { countRecoverable, inFlightMs, type Watched } from './asked-events.ts';
import { checkSender } from './check-sender.ts';
import { listMissed } from './list-missed.ts';
import type { SenderDeps, SentWebhook } from './open-sender.ts';

/** Days for which providers keep their logs (docs.github.com/en/webhooks and docs.gitlab.com/user/project/integrations/webhooks, 2026-11-27). */
const keptDays = { github: 3, gitlab: deliveryDaysKept } as const;
/** @limit Time before the last comparison that the next one reads again, in ms: attempts that were in flight then, and clocks that differ. */
const overlapMs = 5 * 60_000;
/** @limit Time in which the daemon reads the log of a provider for one webhook, in ms: the looks at others wait for it. */
const lookMs = 5 * 60_000;

/**
 * Checks the hook of a webhook, compares the provider's log since the last comparison with ours, and keeps both. A provider
 * that is down is a fact, which is kept too.
 */
export async function watchSender(deps: SenderDeps, webhook: SentWebhook): Promise<Watched> {
  const { factory } = deps;
  const listedAtMs = factory.now().getTime();
  const { findings, hooks } = await checkSender(deps, webhook);
  const failed = findings.find(({ code }) => code === 'provider-failed');
  const nothing = { toAsk: [], listedAtMs };
  if (failed) return { ...nothing, problem: failed.message };
  if (hooks.length === 0) return { ...nothing, problem: null };
  const states = await factory.store.senderStates.read(factory.name);
  const sinceMs = findSince(findSenderState(states, webhook.uid), webhook, listedAtMs);
  const parts = await readParts(deps, webhook, sinceMs);
  if (typeof parts === 'string') return { ...nothing, problem: parts };
  const found = await keepMissed(deps, webhook, { parts, listedAtMs });
  const toAsk = found.map(({ eventId, attemptId, asked }) => ({ eventId, attemptId, again: asked !== null }));
  return { problem: null, toAsk, listedAtMs };
}

/** Keeps what is missed, and returns what the daemon may ask for. */
async function keepMissed(
  { factory: { name, store } }: SenderDeps,
  { uid, sender }: SentWebhook,
  { parts, listedAtMs }: { readonly parts: readonly MissedPart[]; readonly listedAtMs: number },
): Promise<MissedEvent[]> {
  const listed = mergeMissed(parts);
  const since = parts[0]?.read.since ?? '';
  let toAsk: MissedEvent[] = [];
  await store.senderStates.learn(name, uid, state => {
    const asked = new Set(state.asked.map(({ eventId }) => eventId));
    const missed = listed.filter(({ eventId }) => !asked.has(eventId));
    const lost = listed.filter(event => event.asked?.isLost && asked.has(event.eventId));
    const possible = [...missed, ...lost].filter(({ canRedeliver }) => canRedeliver);
    toAsk = sender.recover ? possible.slice(0, countRecoverable(state, listedAtMs)) : [];
    toAsk.sort((a, b) => a.firstAt.localeCompare(b.firstAt));
    const problem = sender.recover ? (state.missed?.problem ?? null) : null;
    const recovering = problem === null ? toAsk.filter(event => missed.includes(event)).length : 0;
    const at = new Date(listedAtMs).toISOString();
    const nextSince = findNextSince(listed, listedAtMs);
    return { ...state, missed: { at, since, nextSince, recovering, problem, ...summarize(missed) } };
  });
  return toAsk;
}

function summarize(missed: readonly MissedEvent[]): Pick<Missed, 'events' | 'attempts' | 'first' | 'last'> {
  return {
    events: missed.length,
    attempts: missed.reduce((sum, { attempts }) => sum + attempts, 0),
    first: missed[0]?.firstAt ?? null,
    last: missed.reduce<string | null>((last, { at }) => (last === null || at > last ? at : last), null),
  };
}

/** Everything that the provider keeps, or what it has since the last comparison and what was open then. */
function findSince({ missed }: SenderState, { sender }: SentWebhook, nowMs: number): number {
  const keptMs = nowMs - keptDays[sender.provider] * dayMs;
  return Math.max(keptMs, missed ? Date.parse(missed.nextSince) : 0);
}

/** The next comparison reads again what is missed now, because it may arrive, and what may have to be asked for again. */
function findNextSince(listed: readonly MissedEvent[], listedAtMs: number): string {
  const isOpen = ({ asked }: MissedEvent) =>
    asked === null || asked.isLost || listedAtMs - Date.parse(asked.at) < inFlightMs;
  const overlapAt = new Date(listedAtMs - overlapMs).toISOString();
  const open = listed.filter(isOpen).map(({ firstAt }) => firstAt);
  return [overlapAt, ...open].reduce((first, at) => (at < first ? at : first));
}

/** Reads all parts; the reason if that is not possible now. */
async function readParts(
  deps: SenderDeps,
  webhook: SentWebhook,
  sinceMs: number,
): Promise<readonly MissedPart[] | string> {
  const parts: MissedPart[] = [];
  const startMs = performance.now();
  for (let cursor: string | undefined; ; ) {
    if (performance.now() - startMs > lookMs)
      return `the log of the provider could not be read within ${lookMs / 60_000} minutes`;
    const part = await listMissed(deps, webhook, { since: sinceMs, all: false, cursor }).catch(
      (error: unknown) => {
        if (error instanceof Refusal && error.code === 'sender-failed') return error.message;
        throw error;
      },
    );
    if (typeof part === 'string') return part;
    if (part.nextInMs !== null) return 'a rate limit of the provider is reached';
    parts.push(part);
    if (part.next === null) return parts;
    cursor = part.next;
  }
}

/** Keeps why the daemon could not ask for events; null: it can. */
export async function keepRecoveryProblem(
  { factory: { name, store } }: SenderDeps,
  uid: string,
  problem: string | null,
): Promise<void> {
  await store.senderStates.learn(name, uid, state => {
    const { missed } = state;
    if (!missed || missed.problem === problem) return state;
    const recovering = problem === null ? missed.recovering : 0;
    return { ...state, missed: { ...missed, problem, recovering } };
  });
}
