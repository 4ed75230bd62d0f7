import { type MissedEvent, type MissedPart, mergeMissed } from '../../schema/clients/missed-events.ts';
import { Refusal } from '../../schema/refusal.ts';
import { type AskedEvent, findSenderState, type Missed } from '../../schema/sender.ts';
import { dayMs } from '../../schema/time-units.ts';
import { countRecoverable, judgeAsked, type Watched } from './asked-events.ts';
import { checkSender } from './check-sender.ts';
import { listMissed } from './list-missed.ts';
import type { SenderDeps, SentWebhook } from './open-sender.ts';

/**
 * Days for which github.com keeps its log, and an Enterprise Server or GitLab its own (docs.github.com/en/webhooks,
 * docs.gitlab.com/user/project/integrations/webhooks, 2026-11-27).
 */
const keptDays = { gitHub: 3, others: 7 } as const;
/** @limit Time for which it is told that events are lost, in ms. */
const lostToldMs = dayMs;
/** @limit Time before the newest entry of the last comparison that the next one reads again, in ms: entries of attempts that were in flight then. */
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
  // At first, everything that the provider keeps.
  const since = findSenderState(states, webhook.uid).missed?.nextSince;
  const sinceMs = since === undefined ? 0 : Date.parse(since);
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
  const follow = await followOpen(store, { uid, sender, name }, { parts, listedAtMs });
  let toAsk: MissedEvent[] = [];
  await store.senderStates.learn(name, uid, state => {
    const followed = state.asked.map(follow);
    const asked = new Map(followed.map(event => [event.eventId, judgeAsked(event, listedAtMs)]));
    const stateOf = ({ eventId }: MissedEvent) => asked.get(eventId);
    const missed = listed.filter(event => stateOf(event) !== 'arriving');
    const possible = missed.filter(event => event.canRedeliver && stateOf(event) !== 'paused');
    toAsk = sender.recover ? possible.slice(0, countRecoverable(state, listedAtMs)) : [];
    const problem = sender.recover ? (state.missed?.problem ?? null) : null;
    const inVain = missed.filter(stateOf).length;
    const recovering = problem === null ? toAsk.filter(event => !stateOf(event)).length : 0;
    const at = new Date(listedAtMs).toISOString();
    const nextSince = findNextSince(listed, parts);
    const lost = countLost(followed, listedAtMs);
    const summary = { inVain, recovering, lost, problem, ...summarize(missed) };
    return { ...state, asked: followed, missed: { at, since, nextSince, ...summary } };
  });
  return toAsk;
}

/**
 * Makes a function that keeps of an event that was asked for whether it is still open by a comparison: the provider lists it,
 * and it has not arrived. It is lost if the provider listed it before, does not any more because it is too old, and it has not
 * arrived.
 */
async function followOpen(
  { senderStates, deliveries }: SenderDeps['factory']['store'],
  { name, uid, sender }: Pick<SentWebhook, 'uid' | 'sender'> & { readonly name: string },
  { parts, listedAtMs }: { readonly parts: readonly MissedPart[]; readonly listedAtMs: number },
): Promise<(asked: AskedEvent) => AskedEvent> {
  const events = new Map(parts.flatMap(({ events }) => events.map(event => [event.eventId, event])));
  const { asked } = findSenderState(await senderStates.read(name), uid);
  const gone = asked
    .filter(({ eventId, open }) => open && !events.has(eventId))
    .map(({ eventId }) => eventId);
  const arrived = new Set(await deliveries.listAcceptedEvents(uid, gone));
  const lostAt = new Date(listedAtMs).toISOString();
  const isGitHub = sender.provider === 'github' && sender.url === undefined;
  const keptMs = (isGitHub ? keptDays.gitHub : keptDays.others) * dayMs;
  return ({ open, ...event }) => {
    const listed = events.get(event.eventId);
    if (listed) return { ...event, open: { event: listed.event, firstAt: listed.firstAt } };
    if (!open || arrived.has(event.eventId)) return event;
    if (event.lostAt !== undefined) return { ...event, open };
    const isForgotten = listedAtMs - Date.parse(open.firstAt) >= keptMs - overlapMs;
    return isForgotten ? { ...event, open, lostAt } : event;
  };
}

function countLost(asked: readonly AskedEvent[], nowMs: number): Missed['lost'] {
  const lost = asked.filter(({ lostAt }) => lostAt !== undefined && nowMs - Date.parse(lostAt) < lostToldMs);
  const byEvent = Map.groupBy(lost, ({ open }) => open?.event ?? '');
  return [...byEvent].map(([event, { length }]) => ({ event, events: length }));
}

function summarize(missed: readonly MissedEvent[]): Pick<Missed, 'events' | 'attempts' | 'first' | 'last'> {
  return {
    events: missed.length,
    attempts: missed.reduce((sum, { attempts }) => sum + attempts, 0),
    first: missed[0]?.firstAt ?? null,
    last: missed.reduce<string | null>((last, { at }) => (last === null || at > last ? at : last), null),
  };
}

/**
 * The next comparison reads again what is missed now, and the last minutes of the log. All by the clock of the provider: ours
 * may be wrong now, or have been at the last comparison.
 */
function findNextSince(listed: readonly MissedEvent[], parts: readonly MissedPart[]): string {
  const newest = parts.flatMap(({ read }) => read.newestAt ?? []);
  const overlapAt = newest
    .map(at => new Date(Date.parse(at) - overlapMs).toISOString())
    .sort()
    .at(-1);
  const open = listed.map(({ firstAt }) => firstAt);
  return [overlapAt ?? parts[0]?.read.since ?? '', ...open].reduce((first, at) => (at < first ? at : first));
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
