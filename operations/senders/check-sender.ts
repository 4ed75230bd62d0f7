import type { z } from 'zod';
import type { AppliedState } from '../../schema/applied-state.ts';
import { describeSender } from '../../schema/definitions/sender-keys.ts';
import { renderIngressUrl } from '../../schema/ingress-url.ts';
import { findSenderState, type ProviderHook, type SenderState } from '../../schema/sender.ts';
import type { senderAnswer } from '../../schema/views/senders.ts';
import type { ProviderClient } from '../../senders/provider-client.ts';
import { judgeSender, sendsTo } from '../checks/judge-sender.ts';
import type { OpenFactory } from '../factory.ts';
import {
  openSender,
  type SenderDeps,
  SenderUnusable,
  type SentWebhook,
  toSenderProblem,
} from './open-sender.ts';

export type SenderView = z.output<typeof senderAnswer>;

/** Asks a webhook's provider about its hook, keeps what it says, and judges it. A provider that is down is a finding. */
export async function checkSender(deps: SenderDeps, webhook: SentWebhook): Promise<SenderView> {
  const { factory } = deps;
  const learned = await askAboutHooks(deps, webhook).then(
    hooks => ({ hooks, problem: null }),
    error => ({ problem: toSenderProblem(error) }),
  );
  const at = factory.now().toISOString();
  const state = await factory.store.senderStates.learn(factory.name, webhook.uid, state => ({
    ...state,
    checked: { hooks: state.checked?.hooks ?? [], ...learned, at },
  }));
  return viewSender(deps, await factory.readState(), webhook, state);
}

async function askAboutHooks(deps: SenderDeps, webhook: SentWebhook): Promise<ProviderHook[]> {
  const client = await openSender(deps, webhook);
  return deps.waitOutside(() => findHooks(client, webhook));
}

/** Finds the hooks of a webhook at its provider: the one that the definition names, or else those with its URL. */
async function findHooks(
  client: Pick<ProviderClient, 'listHooks'>,
  { uid, sender }: SentWebhook,
): Promise<ProviderHook[]> {
  const hooks = await client.listHooks();
  const isOwn = (hook: ProviderHook) =>
    sender.hookId === undefined ? sendsTo(hook, uid) : hook.id === String(sender.hookId);
  // An app has only one webhook, whatever its URL.
  return sender.app === undefined ? hooks.filter(isOwn) : [...hooks];
}

/** A webhook's hook, and the API that it was found by. */
export interface OpenHook {
  readonly client: ProviderClient;
  readonly hook: ProviderHook;
}

/** Opens the API of a webhook's provider, and finds its hook there. Fails as `openSender` does, also if there is no hook. */
export async function openHook(deps: SenderDeps, webhook: SentWebhook): Promise<OpenHook> {
  const client = await openSender(deps, webhook);
  const [hook] = await deps.waitOutside(() => findHooks(client, webhook));
  if (hook) return { client, hook };
  const remedy = `Run \`hookmill senders register ${webhook.name}\`.`;
  throw new SenderUnusable('the provider has no hook with the URL of the webhook', remedy);
}

/** Shows what is known of each webhook with a sender, without asking a provider. */
export async function listSenders(deps: SenderDeps): Promise<SenderView[]> {
  const { factory } = deps;
  const applied = await factory.readState();
  const states = await factory.store.senderStates.read(factory.name);
  const views = applied.webhooks.map(async ({ sender, ...webhook }) => {
    if (!sender) return [];
    const state = findSenderState(states, webhook.uid);
    return [await viewSender(deps, applied, { ...webhook, sender }, state)];
  });
  return (await Promise.all(views)).flat();
}

async function viewSender(
  { factory, ownBaseUrl }: SenderDeps,
  { automations }: AppliedState,
  webhook: SentWebhook,
  state: SenderState,
): Promise<SenderView> {
  const { name, uid, sender } = webhook;
  const url = renderIngressUrl(ownBaseUrl, webhook);
  const refused = await findRefused(factory, uid);
  return {
    ...{ webhook: name, uid, url, provider: sender.provider, at: describeSender(sender) },
    checkedAt: state.checked?.at ?? null,
    hooks: state.checked?.hooks ?? [],
    missed: state.missed,
    findings: judgeSender({ webhook, uid, url, automations, state, refused }),
  };
}

/** Why the newest request was refused; undefined if one was verified since. */
async function findRefused(factory: OpenFactory, uid: string): Promise<string | undefined> {
  const { verified, refused } = await findNewest(factory, uid);
  if (!refused || refused.atMs <= (verified?.atMs ?? 0)) return undefined;
  return refused.reason ?? 'it was not verified';
}

/** Finds the newest delivery that was verified, and the newest request that was not; undefined if there is none. */
async function findNewest({ name: factory, store }: Pick<OpenFactory, 'name' | 'store'>, uid: string) {
  const last = async (outcome: 'Accepted' | 'Duplicate' | 'Rejected (auth)') =>
    (await store.deliveries.listDeliveries({ factory, uid, outcome, limit: 1 }))[0];
  const [accepted, duplicate, refused] = await Promise.all([
    last('Accepted'),
    last('Duplicate'),
    last('Rejected (auth)'),
  ]);
  const verified = (accepted?.atMs ?? 0) < (duplicate?.atMs ?? 0) ? duplicate : accepted;
  return { verified, refused };
}

/**
 * Whether deliveries prove that the provider has the current secret: the newest one was verified, not with a previous value,
 * and the applied state has not changed since. Providers do not show secrets, and an apply may have put another value in force.
 */
export async function isSecretProven(
  factory: Pick<OpenFactory, 'name' | 'store'>,
  { appliedAt }: Pick<AppliedState, 'appliedAt'>,
  { uid }: Pick<SentWebhook, 'uid'>,
): Promise<boolean> {
  const { verified, refused } = await findNewest(factory, uid);
  return (
    verified !== undefined && verified.atMs > (refused?.atMs ?? 0) && verified.atMs > Date.parse(appliedAt)
  );
}
