import { describeSender, type WebhookSender } from '../../schema/definitions/sender-keys.ts';
import { Refusal } from '../../schema/refusal.ts';
import { askedKept, emptySenderState, type SenderState } from '../../schema/sender.ts';
import { type ProviderClient, ProviderError } from '../../senders/provider-client.ts';
import {
  type AskRules,
  type Decision,
  decideAsk,
  type EventAsk,
  keepUncounted,
  unmarkAsked,
} from './asked-events.ts';
import { findHooks } from './check-sender.ts';
import { unknownWaitMs } from './list-missed.ts';
import {
  openSender,
  type SenderDeps,
  SenderUnusable,
  type SentWebhook,
  toSenderProblem,
} from './open-sender.ts';
import type { Redelivered, RedeliverRequest } from './watched.ts';

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
  for (const { eventId, attemptId, again } of request.events) {
    const ask = { eventId, attemptId, again, listedAtMs: request.listedAt, byDaemon };
    const isOver = waitMs !== undefined || performance.now() - startMs >= askingMs;
    const asked = await askForEvent(asking, ask, isOver);
    waitMs ??= asked.waitMs;
    results.push({ eventId, result: asked.result, reason: asked.reason ?? null });
  }
  return { events: results, nextInMs: waitMs === undefined ? null : Math.ceil(waitMs) };
}

/** What is needed to ask for one event after the other. */
interface Asking {
  readonly deps: SenderDeps;
  readonly webhook: SentWebhook;
  /** The state as it was last seen. Whoever else asks may have changed it. */
  state: SenderState;
  readonly makeRules: () => AskRules;
  /** Opens the provider for the first event that is asked for. */
  readonly openHook: () => Promise<OpenHook>;
}

interface OpenHook {
  readonly client: ProviderClient;
  readonly hookId: string;
}

async function openAsking(deps: SenderDeps, webhook: SentWebhook): Promise<Asking> {
  const { factory } = deps;
  const states = await factory.store.senderStates.read(factory.name);
  const state = states.find(({ uid }) => uid === webhook.uid) ?? emptySenderState(webhook.uid);
  const { deliveriesPerMinute = deliveriesPerMinuteDefault } =
    (await factory.store.daemonAddress.read()) ?? {};
  const othersAtMs = await findOthersAsked(deps, webhook, states);
  const isNearlyFull = state.asked.length * 2 > askedKept;
  const ids = isNearlyFull ? state.asked.map(({ eventId }) => eventId) : [];
  const accepted = new Set(await factory.store.deliveries.listAcceptedEvents(webhook.uid, ids));
  const readNow = startClock(deps);
  let opening: Promise<OpenHook> | undefined;
  return {
    ...{ deps, webhook, state },
    makeRules: () => ({
      ...{ nowMs: readNow(), perMinute: findPace(webhook.sender, deliveriesPerMinute), othersAtMs, accepted },
    }),
    openHook: () => {
      opening ??= openHook(deps, webhook);
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

/** When events of other webhooks with a hook in the same place were asked for: they share the limit. */
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

async function openHook(deps: SenderDeps, webhook: SentWebhook): Promise<OpenHook> {
  const client = await openSender(deps, webhook);
  const [hook] = await deps.waitOutside(() => findHooks(client, webhook));
  if (!hook) throw new SenderUnusable('the provider has no hook with the URL of the webhook');
  // GitLab would refuse each event, and it would not be asked for again.
  if (webhook.sender.provider === 'gitlab' && !hook.isActive) {
    const until = hook.disabledUntil === null ? '' : ` until ${hook.disabledUntil}`;
    const remedy = 'correct the cause, then send a test event at the provider';
    throw new SenderUnusable(`the provider has disabled the hook${until}; ${remedy}`);
  }
  return { client, hookId: hook.id };
}

interface Asked extends Pick<EventResult, 'result'> {
  readonly reason?: string | undefined;
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
  const hook = await asking.openHook().catch(failOrWait);
  if ('waitMs' in hook) return { result: 'too-soon', waitMs: hook.waitMs };
  let decision: Decision = expected;
  let before: SenderState = asking.state;
  asking.state = await store.senderStates.act(name, webhook.uid, state => {
    before = state;
    decision = decideAsk(state, ask, makeRules());
    return decision.kind === 'ask' ? decision.state : state;
  });
  if (decision.kind !== 'ask') return toAsked(decision);
  return sendAsk(asking, hook, { ask, before });
}

function toAsked(decision: Exclude<Decision, { kind: 'ask' }>): Asked {
  if (decision.kind === 'refused') return { result: 'refused', reason: decision.reason };
  return { result: 'too-soon', waitMs: decision.waitMs };
}

/** Sends the request for an event that is stored as asked for. */
async function sendAsk(
  asking: Asking,
  { client, hookId }: OpenHook,
  { ask, before }: { readonly ask: EventAsk; readonly before: SenderState },
): Promise<Asked> {
  const { deps, webhook } = asking;
  const { name, store } = deps.factory;
  const earlier = before.asked.find(({ eventId }) => eventId === ask.eventId);
  const correct = async (how: typeof unmarkAsked) => {
    asking.state = await store.senderStates.act(name, webhook.uid, state => how(state, ask.eventId, earlier));
  };
  try {
    await deps.waitOutside(() => client.redeliver(hookId, ask.attemptId));
    return { result: 'asked' };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    switch (error.code) {
      case 'refused':
      case 'not-found':
        // It would be refused again: the hook has another URL, or the provider no longer has the event.
        return { result: 'refused', reason: error.message };
      case 'rate-limited':
        await correct(unmarkAsked);
        return { result: 'too-soon', waitMs: error.retryAfterMs ?? unknownWaitMs };
      case 'forbidden':
        await correct(unmarkAsked);
        throw new Refusal('sender-failed', { detail: error.message }, { cause: error });
      default:
        await correct(keepUncounted);
        throw new Refusal('sender-failed', { detail: error.message }, { cause: error });
    }
  }
}

/** A rate limit is waited for; everything else keeps all events from being asked for. */
function failOrWait(error: unknown): { readonly waitMs: number } {
  const { code, message } = toSenderProblem(error);
  if (code !== 'rate-limited') throw new Refusal('sender-failed', { detail: message }, { cause: error });
  return { waitMs: (error as ProviderError).retryAfterMs ?? unknownWaitMs };
}
