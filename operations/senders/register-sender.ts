import { createHash, randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { z } from 'zod';
import type { planSenderRequest, registerSenderRequest } from '../../schema/api/requests.ts';
import type { AppliedState } from '../../schema/applied-state.ts';
import { renderSecretCommand } from '../../schema/clients/secret-command.ts';
import { describeSender } from '../../schema/definitions/sender-keys.ts';
import { type OwnIngressUrl, renderIngressUrl } from '../../schema/ingress-url.ts';
import { hasSecret } from '../../schema/names.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { ProviderHook, SenderState } from '../../schema/sender.ts';
import type { registeredSenderAnswer, senderPlanAnswer } from '../../schema/views/senders.ts';
import { type ProviderClient, ProviderError } from '../../senders/provider-client.ts';
import { isPublicAddress } from '../../senders/public-address.ts';
import { credentialOwner } from '../../store/ports/seal.ts';
import { requireSoleUse } from '../access/secrets.ts';
import { explainNewValue } from '../branch/new-secret-value.ts';
import { listStart } from '../log/list-rows.ts';
import { isCurrentCredential } from '../plan/plan.ts';
import { isSecretProven } from './check-sender.ts';
import {
  openSender,
  type SenderDeps,
  SenderUnusable,
  type SentWebhook,
  toSenderProblem,
} from './open-sender.ts';
import { type HookPlan, planHook } from './plan-hook.ts';

type Request = z.output<typeof planSenderRequest>;

export type SenderPlan = z.output<typeof senderPlanAnswer>;

type RegisteredSender = z.output<typeof registeredSenderAnswer>;

/** What registering is judged by, and the API of the provider. */
interface Opened {
  readonly deps: SenderDeps;
  readonly state: AppliedState;
  readonly webhook: SentWebhook;
  readonly url: OwnIngressUrl;
  readonly credential: UsedCredential;
  readonly client: ProviderClient;
}

/**
 * Asks a webhook's provider about its hook, and plans what registering would change. Changes nothing. Fails as registering
 * would: with `sender-not-ready`, `hook-conflict` or `sender-failed`; with `rotate`, as `beginSecretRotation` would.
 */
export async function planSender(
  deps: SenderDeps,
  webhook: SentWebhook,
  request: Request,
): Promise<SenderPlan> {
  const opened = await open(deps, webhook);
  const { rotate = false, setSecret = false } = request;
  if (rotate && hasSecret(webhook)) await requireSoleUse(deps.factory, webhook);
  const plan = await makePlan(opened, { ...request, setSecret: setSecret || rotate });
  // Before the secret is rotated, because the hook would not get it.
  if (rotate && plan.takesOver !== null) throw refuseTakeover(opened, plan, ', without --rotate');
  return viewPlan(opened, plan);
}

/**
 * Creates the hook of a webhook at its provider, or corrects it, and makes the provider send a ping. Nothing is changed if the
 * hook is not as a plan has shown it: that fails with `hook-changed`. Fails with `sender-busy` while another registration of
 * the webhook is in progress, so that two do not create two hooks.
 */
export async function registerSender(
  deps: SenderDeps & { readonly by: string },
  webhook: SentWebhook,
  { fingerprint, takeOver = false, ...request }: z.output<typeof registerSenderRequest>,
): Promise<RegisteredSender> {
  const { factory } = deps;
  const opened = await open(deps, webhook);
  const { client, credential } = opened;
  // Before anything is written, so that what is refused is no change.
  const planned = await makePlan(opened, request);
  requireAsPlanned(opened, planned, fingerprint);
  if (planned.takesOver !== null && !takeOver) throw refuseTakeover(opened, planned);
  const secret = await credential.open();
  return holdRegistration(deps, webhook.uid, async () => {
    // Again, because another registration may have ended in between.
    const plan = await makePlan(opened, request);
    requireAsPlanned(opened, plan, fingerprint);
    const wanted = { ...plan.wanted, secret };
    const hook = await ask(deps, () =>
      plan.hook ? client.changeHook(plan.hook.id, wanted) : client.createHook(wanted),
    );
    await learnHook(deps, webhook, hook);
    const after = (await factory.store.deliveries.findLast('deliveries', factory.name)) ?? listStart;
    const pinging = deps.waitOutside(() => client.ping(hook));
    const problem = await pinging.then(() => null, toSenderProblem);
    return { ...viewPlan(opened, plan), hook, ping: { after, problem } };
  });
}

async function open(deps: SenderDeps, webhook: SentWebhook): Promise<Opened> {
  const url = renderIngressUrl(deps.ownBaseUrl, webhook);
  const credential = await findUsedCredential(deps, webhook);
  requireReachable(url, webhook);
  const client = await openSender(deps, webhook).catch(refuse);
  return { deps, state: await deps.factory.readState(), webhook, url, credential, client };
}

async function makePlan(
  { deps, state, webhook, url, client }: Opened,
  { events = [], setSecret = false }: Request,
): Promise<HookPlan> {
  const hooks = await ask(deps, () => client.listHooks());
  const setsSecret = setSecret || !(await isSecretProven(deps.factory, state, webhook));
  const { automations } = state;
  return planHook({ webhook, url, automations, hooks, events, setsSecret });
}

function ask<T>({ waitOutside }: SenderDeps, question: () => Promise<T>): Promise<T> {
  return waitOutside(question).catch(refuse);
}

function refuse(error: unknown): never {
  if (error instanceof ProviderError)
    throw new Refusal('sender-failed', { detail: error.message }, { cause: error });
  if (error instanceof SenderUnusable)
    throw new Refusal('sender-not-ready', { detail: error.message }, { cause: error });
  throw error;
}

async function learnHook({ factory }: SenderDeps, { uid }: SentWebhook, hook: ProviderHook): Promise<void> {
  const checked = { at: factory.now().toISOString(), hooks: [hook], problem: null };
  await factory.store.senderStates.learn(factory.name, uid, state => ({ ...state, checked }));
}

function requireAsPlanned(opened: Opened, plan: HookPlan, fingerprint: string): void {
  if (makeFingerprint(opened, plan) === fingerprint) return;
  const { name, sender } = opened.webhook;
  const detail = `the hook of ${describeSender(sender)}, or what it should be, has changed since the changes were shown; nothing was changed. Run \`hookmill senders register ${name}\` again`;
  throw new Refusal('hook-changed', { detail });
}

/** The definition may name a hook of somebody else, which whoever runs this must want to change. */
function refuseTakeover({ webhook }: Opened, { hook, takesOver }: HookPlan, how = ''): Refusal {
  const at = describeSender(webhook.sender);
  const detail = `the hook ${hook?.id} of ${at} sends to ${takesOver}, which is not the webhook ${webhook.name}; nothing was changed. Use --take-over${how} if it is to send to this webhook instead`;
  return new Refusal('hook-conflict', { detail });
}

/** Makes a digest of everything that a plan depends on. It leaves out the state that changes with each delivery. */
function makeFingerprint({ credential }: Opened, { hook, wanted }: HookPlan): string {
  const { lastAnswer: _, disabledUntil: __, ...known } = hook ?? { lastAnswer: null, disabledUntil: null };
  const judged = [known, wanted, credential.version];
  return createHash('sha256').update(JSON.stringify(judged)).digest('base64url');
}

function viewPlan(opened: Opened, plan: HookPlan): SenderPlan {
  const { url, webhook } = opened;
  const { name, uid, sender } = webhook;
  const { hook, changes } = plan;
  return {
    ...{ webhook: name, uid, url, provider: sender.provider, at: describeSender(sender) },
    action: hook ? (changes.length === 0 ? 'none' : 'change') : 'create',
    hookId: hook?.id ?? null,
    takesOver: plan.takesOver,
    changes: [...changes],
    fingerprint: makeFingerprint(opened, plan),
  };
}

/** @limit Time after which another registration of a webhook may begin although one has not ended, in ms: its process was killed. It is longer than a provider may take to answer. */
const registeringMsMax = 60_000;

/**
 * Does the work while no other registration of the webhook is in progress, in whichever process or replica. Fails with
 * `sender-busy`. Marks it in the store, which is the change that the audit log records.
 */
async function holdRegistration<T>(
  { factory: { name, store, now }, by }: SenderDeps & { readonly by: string },
  uid: string,
  work: () => Promise<T>,
): Promise<T> {
  const { senderStates } = store;
  const at = now().toISOString();
  const id = randomUUID();
  // Looks first, so that what is refused is no change.
  requireFree(await senderStates.learn(name, uid, state => state), now());
  await senderStates.act(name, uid, state => {
    requireFree(state, now());
    return { ...state, registering: { id, at, by } };
  });
  const end = (state: SenderState) =>
    state.registering?.id === id ? { ...state, registering: null } : state;
  try {
    return await work();
  } finally {
    // If this fails, the registration expires.
    await senderStates.learn(name, uid, end).catch(() => undefined);
  }
}

function requireFree({ registering }: SenderState, now: Date): void {
  if (!registering) return;
  const endMs = Date.parse(registering.at) + registeringMsMax;
  if (now.getTime() >= endMs) return;
  const { at, by } = registering;
  const end = new Date(endMs).toISOString();
  const detail = `another registration of this webhook began at ${at}, by ${by}; try again when it has ended, at ${end} at the latest`;
  throw new Refusal('sender-busy', { detail });
}

/** Names that no public DNS has: RFC 6761 and 6762, home.arpa (RFC 8375), and internal, which ICANN keeps free. */
const privateName = /^[^.]*$|(^|\.)(localhost|local|internal|home\.arpa)$/i;

/**
 * Fails with `sender-not-ready` if a provider on the internet cannot deliver to the ingress URL. A provider with an address
 * of its own may be in the network of the daemon, so its URL may be any.
 */
export function requireReachable(url: string, { sender }: Pick<SentWebhook, 'sender'>): void {
  if (sender.url !== undefined) return;
  const { protocol, hostname } = new URL(url);
  const set = 'set --base-url or HOOKMILL_BASE_URL, or baseUrl in the configuration file of the daemon';
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  const isPublic = isIP(host) === 0 ? !privateName.test(host) : isPublicAddress(host);
  if (!isPublic) {
    const detail = `the ingress URL ${url} cannot be reached by ${sender.provider}; ${set}`;
    throw new Refusal('sender-not-ready', { detail });
  }
  if (protocol === 'https:') return;
  const detail = `the ingress URL ${url} has no https, so deliveries of ${describeSender(sender)} could be read on their way; ${set}`;
  throw new Refusal('sender-not-ready', { detail });
}

/** The credential that a webhook's senders must use now. */
interface UsedCredential {
  /** Identifies the value. */
  readonly version: string;
  open(): Promise<string>;
}

/**
 * Finds the credential in the applied state: what the daemon verifies with, which the team secret may no longer be. Fails with
 * `sender-not-ready` if the webhook accepts no delivery, or if its team secret has a newer value: whoever gave it one wants
 * the provider to have it.
 */
async function findUsedCredential({ factory }: SenderDeps, webhook: SentWebhook): Promise<UsedCredential> {
  const { name, store } = factory;
  const { credential, authMode, enabled, uid } = webhook;
  const refuse = (detail: string) => new Refusal('sender-not-ready', { detail });
  if (!enabled)
    throw refuse(`the webhook ${webhook.name} is disabled, so it accepts no delivery; enable it first`);
  if (!hasSecret(webhook)) throw refuse(`the webhook ${webhook.name} has no secret to give to its provider`);
  const { secretName } = webhook;
  if (credential.kind !== 'sealed') {
    const next = await explainNewValue(factory);
    throw refuse(
      `the webhook ${webhook.name} has no secret yet: create one with \`${renderSecretCommand(webhook)}\`. ${next}`,
    );
  }
  const secret = (await store.teamSecrets.open([secretName], name)).get(secretName);
  // A value that cannot be read where it is kept is not known to be newer, and one that is gone is not newer.
  if (secret?.value && !isCurrentCredential(credential, authMode, secret)) {
    const next = await explainNewValue(factory);
    throw refuse(
      `the team secret ${secretName} has a newer value than the webhook ${webhook.name} uses. ${next} Then register again`,
    );
  }
  const { jwe, secretVersion: version } = credential;
  return { version, open: () => store.seal.open(jwe, credentialOwner(name, uid)) };
}
