import { describeSender, type WebhookSender } from '../../schema/definitions/sender-keys.ts';
import { findRateLimit } from '../../schema/rate-limits.ts';
import { askedKept, findSenderState, type SenderState } from '../../schema/sender.ts';
import type { Redelivered, RedeliverRequest } from './asked-events.ts';
import {
  type AskRules,
  type Decision,
  decideAsk,
  type EventAsk,
  keepUncounted,
  unmarkAsked,
} from './asked-events.ts';
import { type OpenHook, openHook } from './check-sender.ts';
import {
  type SenderDeps,
  SenderUnusable,
  type SentWebhook,
  toSenderProblem,
  waitOrRefuse,
} from './open-sender.ts';

/** @limit Resends a minute that GitLab allows of one user for a project or group (docs.gitlab.com/api/project_webhooks, 2026-11-27). */
const gitLabPerMinute = 5;
/** @limit Requests a minute to github.com to send again: its documentation asks for a second between requests that change something (docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api, 2026-11-27). */
const gitHubPerMinute = 60;
/** The deliveries per minute that a daemon takes if none has recorded it. */
const deliveriesPerMinuteDefault = 60;
/** @limit Time after which a request asks for no further event, in ms: commands wait for 30 s, and GitLab answers only after the delivery. */
const askingMs = 12_000;

type EventResult = Redelivered['events'][number];

/**
 * Asks the provider of a webhook to send events again, in their order, as far as the pace allows. That an event was asked for
 * is stored before, so that nobody asks twice, whatever ends when. Our own log is looked at right before. Fails with
 * `sender-failed` if the provider cannot be asked for any event.
 */
export async function redeliverMissed(
  deps: SenderDeps,
  webhook: SentWebhook,
  request: RedeliverRequest,
  byDaemon = false,
): Promise<Redelivered> {
  const asking = await openAsking(deps, webhook);
  const startMs = performance.now();
  const results: EventResult[] = [];
  let waitMs: number | undefined;
  let firstAsked = 0;
  for (const { eventId, attemptId, again } of request.events) {
    const ask = { eventId, attemptId, again, listedAtMs: request.listedAt, byDaemon };
    const isOver = waitMs !== undefined || performance.now() - startMs >= askingMs;
    const asked = await askForEvent(asking, ask, isOver);
    waitMs ??= asked.waitMs;
    if (asked.isFirst) firstAsked++;
    results.push({ eventId, result: asked.result, reason: asked.reason ?? null });
  }
  await forgetMissed(deps, webhook, firstAsked);
  return { events: results, nextInMs: waitMs === undefined ? null : Math.ceil(waitMs) };
}

/**
 * Subtracts events that were just asked for, for the first time, from the missed ones, so that the count is right before the
 * next comparison. Those that were asked for in vain stay missed until they arrive.
 */
async function forgetMissed(
  { factory: { name, store } }: SenderDeps,
  { uid }: SentWebhook,
  count: number,
): Promise<void> {
  if (count === 0) return;
  await store.senderStates.learn(name, uid, state => {
    const { missed } = state;
    if (!missed || missed.events === 0) return state;
    const events = Math.max(0, missed.events - count);
    const left = {
      events,
      attempts: events === 0 ? 0 : Math.max(events, missed.attempts - count),
      recovering: Math.max(0, missed.recovering - count),
      ...(events === 0 && { first: null, last: null }),
    };
    return { ...state, missed: { ...missed, ...left } };
  });
}

/** Everything that is needed to ask for one event after the other. */
interface Asking {
  readonly deps: SenderDeps;
  readonly webhook: SentWebhook;
  /** The state as it was last seen. Whoever else asks may have changed it. */
  state: SenderState;
  readonly makeRules: () => AskRules;
  /** Opens the provider for the first event that is asked for. */
  readonly openHook: () => Promise<OpenHook>;
}

async function openAsking(deps: SenderDeps, webhook: SentWebhook): Promise<Asking> {
  const { factory } = deps;
  const states = await factory.store.senderStates.read(factory.name);
  const state = findSenderState(states, webhook.uid);
  const { deliveriesPerMinute = deliveriesPerMinuteDefault, webhooks } =
    (await factory.store.daemonAddress.read()) ?? {};
  const of = { factory: factory.name, name: webhook.name };
  const perMinute = findRateLimit({ deliveriesPerMinute, webhooks }, of);
  const othersAtMs = await findOthersAsked(deps, webhook, states);
  const isNearlyFull = state.asked.length * 2 > askedKept;
  const ids = isNearlyFull ? state.asked.map(({ eventId }) => eventId) : [];
  const accepted = new Set(await factory.store.deliveries.listAcceptedEvents(webhook.uid, ids));
  const readNow = startClock(deps);
  let opening: Promise<OpenHook> | undefined;
  return {
    ...{ deps, webhook, state },
    makeRules: () => ({
      ...{ nowMs: readNow(), perMinute: findPace(webhook.sender, perMinute), othersAtMs, accepted },
    }),
    openHook: () => {
      opening ??= openSendingHook(deps, webhook);
      return opening;
    },
  };
}

/** The time of the operation stands still in the operations thread, so that it is measured from there. */
function startClock({ factory }: SenderDeps): () => number {
  const atMs = factory.now().getTime();
  const startMs = performance.now();
  return () => Math.max(factory.now().getTime(), Math.floor(atMs + performance.now() - startMs));
}

/** Times at which events were asked for that belong to other webhooks with a hook in the same place: they share the limit. */
async function findOthersAsked(
  { factory }: SenderDeps,
  { uid, sender }: SentWebhook,
  states: readonly SenderState[],
): Promise<number[]> {
  const { webhooks } = await factory.readState();
  const place = describeSender(sender);
  const others = webhooks.filter(
    other => other.uid !== uid && other.sender && describeSender(other.sender) === place,
  );
  return states
    .filter(state => others.some(other => other.uid === state.uid))
    .flatMap(({ asked }) => asked.map(({ at }) => Date.parse(at)));
}

/** The events that may be asked for within a minute: fewer than half of the deliveries that the ingress takes in one. */
export function findPace({ provider, url }: WebhookSender, deliveriesPerMinute: number): number {
  const half = Math.max(1, Math.ceil(deliveriesPerMinute / 2) - 1);
  if (provider === 'gitlab') return Math.min(half, gitLabPerMinute);
  // An Enterprise Server has no such limit unless its administrator sets one, which its answers then name.
  return url === undefined ? Math.min(half, gitHubPerMinute) : half;
}

/** GitLab would refuse each event of a hook that it has disabled, and it would not be asked for again. */
async function openSendingHook(deps: SenderDeps, webhook: SentWebhook): Promise<OpenHook> {
  const opened = await openHook(deps, webhook);
  const { isActive, disabledUntil } = opened.hook;
  if (webhook.sender.provider !== 'gitlab' || isActive) return opened;
  const until = disabledUntil === null ? '' : ` until ${disabledUntil}`;
  const remedy = 'Correct the cause, then send a test event at the provider.';
  throw new SenderUnusable(`the provider has disabled the hook${until}`, remedy);
}

interface Asked extends Pick<EventResult, 'result'> {
  readonly reason?: string | undefined;
  /** Whether it was never asked for before. */
  readonly isFirst?: boolean;
  /** The time until the provider may be asked for another event, if that is not now. */
  readonly waitMs?: number | undefined;
}

/** Asks for one event, or says why not. With `isOver`, the event is only looked up. */
async function askForEvent(asking: Asking, ask: EventAsk, isOver: boolean): Promise<Asked> {
  const { deps, webhook, makeRules } = asking;
  const { name, store } = deps.factory;
  const [accepted] = await store.deliveries.listAcceptedEvents(webhook.uid, [ask.eventId]);
  if (accepted !== undefined) return { result: 'accepted' };
  const expected = decideAsk(asking.state, ask, makeRules());
  if (expected.kind !== 'ask') return toAsked(expected);
  if (isOver) return { result: 'too-soon' };
  const opened = await asking.openHook().catch(waitOrRefuse);
  if (typeof opened === 'number') return { result: 'too-soon', waitMs: opened };
  let decision: Decision = expected;
  let before: SenderState = asking.state;
  asking.state = await store.senderStates.act(name, webhook.uid, state => {
    before = state;
    decision = decideAsk(state, ask, makeRules());
    return decision.kind === 'ask' ? decision.state : state;
  });
  if (decision.kind !== 'ask') return toAsked(decision);
  return sendAsk(asking, opened, { ask, before });
}

function toAsked(decision: Exclude<Decision, { kind: 'ask' }>): Asked {
  if (decision.kind === 'refused') return { result: 'refused', reason: decision.reason };
  return { result: 'too-soon', waitMs: decision.waitMs };
}

/** Sends the request for an event that is stored as asked for. */
async function sendAsk(
  asking: Asking,
  { client, hook }: OpenHook,
  { ask, before }: { readonly ask: EventAsk; readonly before: SenderState },
): Promise<Asked> {
  const { deps, webhook } = asking;
  const { name, store } = deps.factory;
  const earlier = before.asked.find(({ eventId }) => eventId === ask.eventId);
  const correct = async (how: typeof unmarkAsked) => {
    asking.state = await store.senderStates.act(name, webhook.uid, state => how(state, ask.eventId, earlier));
  };
  try {
    await deps.waitOutside(() => client.redeliver(hook.id, ask.attemptId));
    return { result: 'asked', isFirst: earlier === undefined };
  } catch (error) {
    const { code, message } = toSenderProblem(error);
    // It would be refused again: the hook has another URL, or the provider no longer has the event.
    if (code === 'refused' || code === 'not-found') return { result: 'refused', reason: message };
    await correct(code === 'rate-limited' || code === 'forbidden' ? unmarkAsked : keepUncounted);
    return { result: 'too-soon', waitMs: waitOrRefuse(error) };
  }
}
