import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';
import type { Authentication } from './authentication.ts';
import type { Budgets } from './budgets.ts';
import { identify } from './identity.ts';
import type { IngressOutcome } from './ingress-outcome.ts';
import type { IngressRequest } from './ingress-request.ts';
import { parseJsonBody } from './json-body.ts';
import { parseTarget } from './parse-target.ts';
import { type RecordDeps, recordDelivery, recordHandshake, recordRefusal } from './record-delivery.ts';

export interface IngressDeps extends RecordDeps {
  readonly findWebhook: (uid: string) => ServedWebhook | undefined;
  readonly budgets: Budgets;
}

/**
 * Decides the outcome of a request. Makes the cheapest checks first, reads the body only if needed, and accepts a
 * delivery only after its commit.
 */
export async function receiveDelivery(request: IngressRequest, deps: IngressDeps): Promise<IngressOutcome> {
  if (request.method !== 'POST') return receiveOtherMethod(request, deps);
  const target = parseTarget(request.path);
  const webhook = target && deps.findWebhook(target.uid);
  // Only url_token webhooks have a path segment after the UID.
  if (!webhook || (target.token !== undefined && webhook.authMode !== 'url_token')) return notFound;

  const guessing = await deps.budgets.checkGuessing(webhook.uid, request.clientAddress);
  if (guessing) return { result: 'refused', webhook, problem: 'too-many-failures', ...guessing };

  const authentication = await webhook.authenticator.verify(request, target.token, deps.nowMs);
  if (authentication.result === 'unread') return refuseUnread(request, webhook, deps, authentication);
  if (authentication.result === 'unverified') return answerUnverified(request, webhook, deps, authentication);
  const { body, schemeDeliveryId, handshake } = authentication;
  const { authenticatedBy } = webhook;

  const spent = await deps.budgets.countDelivery(webhook.uid);
  if (spent) return { result: 'refused', webhook, problem: 'too-many-deliveries', ...spent };

  if (handshake) return recordHandshake(webhook, deps, handshake, body.length, authenticatedBy);

  const json = parseJsonBody(body);
  if (!json) return recordRefusal(webhook, deps, 'invalid-json', body.length, authenticatedBy);

  const identity = identify(request.headers, body, webhook.deliveryIdHeader, schemeDeliveryId);
  const automations = webhook.matchAutomations(json.value);
  return recordDelivery(webhook, deps, identity, body, automations);
}

const notFound: IngressOutcome = { result: 'refused', problem: 'not-found' };
const methodNotAllowed: IngressOutcome = { result: 'refused', problem: 'method-not-allowed' };

/** The ingress allows only POST, except for a webhook whose provider asks with GET before it delivers. */
async function receiveOtherMethod(request: IngressRequest, deps: IngressDeps): Promise<IngressOutcome> {
  const uid = request.method === 'GET' ? parseTarget(request.path)?.uid : undefined;
  const webhook = uid === undefined ? undefined : deps.findWebhook(uid);
  const handshake = webhook?.authenticator.answerGet(request);
  if (!webhook || !handshake) return methodNotAllowed;
  return answerStranger(request, webhook, deps, handshake, 0);
}

function refuseUnread(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  { read, verified }: Authentication & { result: 'unread' },
): Promise<IngressOutcome> | IngressOutcome {
  const { problem } = read;
  if (problem === 'body-incomplete') return { result: 'refused', webhook, problem };
  if (verified) return recordRefusal(webhook, deps, problem, read.bytesSeen, webhook.authenticatedBy);
  // A body that is too large to verify comes from an unverified sender.
  return refuseStranger(request, webhook, deps, problem, read.bytesSeen);
}

function answerUnverified(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  { handshake, size, explain }: Authentication & { result: 'unverified' },
): Promise<IngressOutcome> {
  if (handshake) return answerStranger(request, webhook, deps, handshake, size);
  return refuseStranger(request, webhook, deps, 'unauthorized', size, explain);
}

/** Answers an unsigned handshake. It counts as a failed attempt, because anyone can send one. */
async function answerStranger(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  handshake: HandshakeAnswer,
  size: number,
): Promise<IngressOutcome> {
  const spent =
    (await deps.budgets.checkGuessing(webhook.uid, request.clientAddress)) ??
    (await deps.budgets.countFailure(webhook.uid, request.clientAddress));
  if (spent) return { result: 'refused', webhook, problem: 'too-many-failures', ...spent };
  return recordHandshake(webhook, deps, handshake, size);
}

/** Counts a failed attempt, and logs it unless the webhook already had too many. */
async function refuseStranger(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  problem: 'unauthorized' | 'too-large',
  size: number,
  explain?: () => string,
): Promise<IngressOutcome> {
  const spent = await deps.budgets.countFailure(webhook.uid, request.clientAddress);
  if (spent) return { result: 'refused', webhook, problem: 'too-many-failures', ...spent };
  return recordRefusal(webhook, deps, problem, size, undefined, explain?.());
}
