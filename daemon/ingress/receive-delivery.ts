import type { IncomingHttpHeaders } from 'node:http';
import type { UnidentifiedOutcome } from '../../schema/delivery.ts';
import { createSortableId, sortableIdRandomBytes, uidPattern } from '../../schema/ids.ts';
import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { RequestHeaders, SignedRequest } from '../../signatures/signed-request.ts';
import type { AcceptedDelivery, DeliveryLog, DeliveryMetadata, NewRun } from '../../store/delivery-log.ts';
import { DeliveryLogError } from '../../store/delivery-log-error.ts';
import type { ServedWebhook } from '../served/served-webhooks.ts';
import type { Authentication } from './authenticator.ts';
import type { Budgets } from './budgets.ts';
import { identify } from './identity.ts';
import { parseJsonBody } from './json-body.ts';
import type { ProblemCode } from './problems.ts';

/** A request to the ingress; the body stays in the socket until it is asked for. */
export interface IngressRequest {
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** The public URL as the sender addressed it. */
  readonly url: string;
  readonly clientAddress: string;
  readonly headers: IncomingHttpHeaders;
  readonly distinctHeaders: RequestHeaders;
  readonly contentLength: number | undefined;
  readBody(): Promise<BodyRead>;
}

export type BodyRead =
  | { readonly ok: true; readonly body: Buffer }
  | { readonly ok: false; readonly problem: 'too-large'; readonly bytesSeen: number }
  | { readonly ok: false; readonly problem: 'body-incomplete' };

export interface IngressDeps {
  readonly findWebhook: (uid: string) => ServedWebhook | undefined;
  readonly budgets: Budgets;
  readonly deliveryLog: Pick<DeliveryLog, 'recordAccepted' | 'recordUnidentified'>;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

export type IngressOutcome =
  | {
      readonly result: 'accepted' | 'duplicate';
      readonly webhook: ServedWebhook;
      readonly deliveryId: string;
    }
  | {
      readonly result: 'handshake';
      readonly webhook: ServedWebhook;
      readonly handshake: HandshakeAnswer;
      readonly deliveryId: string;
    }
  | {
      readonly result: 'refused';
      readonly webhook?: ServedWebhook;
      readonly problem: ProblemCode;
      readonly retryAfterSeconds?: number;
      /** The id of its row in the delivery log, for refusals that have one. */
      readonly deliveryId?: string;
      readonly cause?: unknown;
    };

/** From a request to its answer: cheapest checks first, nothing read that need not be, 202 only after the commit. */
export async function receiveDelivery(request: IngressRequest, deps: IngressDeps): Promise<IngressOutcome> {
  if (request.method !== 'POST') return receiveOtherMethod(request, deps);
  const target = parseTarget(request.path);
  const webhook = target && deps.findWebhook(target.uid);
  // A path segment after the UID belongs to url_token alone.
  if (!webhook || (target.token !== undefined && webhook.authMode !== 'url_token')) return notFound;

  const guessing = await deps.budgets.guessing(webhook.uid, request.clientAddress);
  if (guessing) return { result: 'refused', webhook, problem: 'too-many-failures', ...guessing };

  const { authenticator } = webhook;
  if (authenticator.over === 'token') {
    const { authorization } = request.headers;
    const authentication = authenticator.verify({ authorization, urlToken: target.token });
    if (!authentication.ok) return refuseFailure(request, webhook, deps, 'unauthorized', authentication);
  }

  const read = await request.readBody();
  if (!read.ok && read.problem === 'body-incomplete')
    return { result: 'refused', webhook, problem: read.problem };
  if (!read.ok) {
    // Nobody has vouched for a body that is too large to verify.
    if (authenticator.over === 'body')
      return refuseFailure(request, webhook, deps, 'too-large', undefined, read.bytesSeen);
    return refuse(webhook, deps, 'too-large', read.bytesSeen, webhook.authenticatedBy);
  }
  const { body } = read;
  const size = body.length;

  let schemeDeliveryId: string | undefined;
  let handshake: HandshakeAnswer | undefined;
  if (authenticator.over === 'body') {
    const signed = signedRequest(request, body);
    const authentication = authenticator.verify(signed, deps.nowMs());
    handshake = authenticator.answerHandshake(signed, authentication.ok);
    if (!authentication.ok && handshake) return answerStranger(request, webhook, deps, handshake, size);
    if (!authentication.ok)
      return refuseFailure(request, webhook, deps, 'unauthorized', authentication, size);
    schemeDeliveryId = authentication.deliveryId;
  }

  const spent = await deps.budgets.countDelivery(webhook.uid);
  if (spent) return { result: 'refused', webhook, problem: 'too-many-deliveries', ...spent };

  if (handshake) return answer(webhook, deps, handshake, size, webhook.authenticatedBy);

  const json = parseJsonBody(body);
  if (!json) return refuse(webhook, deps, 'invalid-json', size, webhook.authenticatedBy);

  return record(webhook, deps, {
    ...metadata(webhook, deps, size),
    authenticatedBy: webhook.authenticatedBy,
    ...identify(request.headers, body, webhook.deliveryIdHeader, schemeDeliveryId),
    payload: body,
    runs: newRuns(webhook.matchAutomations(json.value), deps),
  });
}

/** The ingress takes POST alone, but for a webhook whose provider asks with GET before it delivers. */
async function receiveOtherMethod(request: IngressRequest, deps: IngressDeps): Promise<IngressOutcome> {
  const uid = request.method === 'GET' ? parseTarget(request.path)?.uid : undefined;
  const webhook = uid === undefined ? undefined : deps.findWebhook(uid);
  if (webhook?.authenticator.over !== 'body' || !webhook.authenticator.hasGetHandshake)
    return methodNotAllowed;
  const handshake = webhook.authenticator.answerHandshake(signedRequest(request, Buffer.alloc(0)), false);
  return handshake ? answerStranger(request, webhook, deps, handshake, 0) : methodNotAllowed;
}

/** A handshake that nobody has signed draws on the budget of failed attempts: anyone can ask. */
async function answerStranger(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  handshake: HandshakeAnswer,
  size: number,
): Promise<IngressOutcome> {
  const spent =
    (await deps.budgets.guessing(webhook.uid, request.clientAddress)) ??
    (await deps.budgets.countFailure(webhook.uid, request.clientAddress));
  if (spent) return { result: 'refused', webhook, problem: 'too-many-failures', ...spent };
  return answer(webhook, deps, handshake, size);
}

/** Answered as the provider demands, logged as what it is; it starts nothing. */
function answer(
  webhook: ServedWebhook,
  deps: IngressDeps,
  handshake: HandshakeAnswer,
  size: number,
  authenticatedBy?: string,
): IngressOutcome {
  const row = metadata(webhook, deps, size);
  deps.deliveryLog.recordUnidentified({ ...row, outcome: 'Handshake', authenticatedBy });
  return { result: 'handshake', webhook, handshake, deliveryId: row.id };
}

function signedRequest(request: IngressRequest, body: Buffer): SignedRequest {
  const { distinctHeaders: headers, url, method } = request;
  return { headers, body, url, method };
}

const methodNotAllowed: IngressOutcome = { result: 'refused', problem: 'method-not-allowed' };
const notFound: IngressOutcome = { result: 'refused', problem: 'not-found' };

interface Target {
  readonly uid: string;
  readonly token: string | undefined;
}

const prefix = '/webhooks/w/';
const uidLength = 27;

/** `/webhooks/w/<uid>` or `/webhooks/w/<uid>/<token>`, to the letter. */
function parseTarget(path: string): Target | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const uid = path.slice(prefix.length, prefix.length + uidLength);
  if (!uidPattern.test(uid)) return undefined;
  const rest = path.slice(prefix.length + uidLength);
  if (rest === '') return { uid, token: undefined };
  const token = rest.slice(1);
  if (rest[0] !== '/' || token === '' || token.includes('/')) return undefined;
  return { uid, token: decodeUnreserved(token) };
}

/** RFC 3986 section 6.2.2.2: `%7E` is `~`. What is not well-formed stays as it is, and is no token. */
function decodeUnreserved(token: string): string {
  return token.includes('%')
    ? token.replaceAll(/%([2-7][0-9A-Fa-f])/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : token;
}

/** A failed attempt: counted, and logged as long as the webhook's budget of failures lasts. */
async function refuseFailure(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  problem: 'unauthorized' | 'too-large',
  authentication: (Authentication & { ok: false }) | undefined,
  size = request.contentLength ?? 0,
): Promise<IngressOutcome> {
  const spent = await deps.budgets.countFailure(webhook.uid, request.clientAddress);
  if (spent) return { result: 'refused', webhook, problem: 'too-many-failures', ...spent };
  return refuse(webhook, deps, problem, size, undefined, authentication?.explain());
}

const outcomeOf = {
  unauthorized: 'Rejected (auth)',
  'too-large': 'Rejected (too large)',
  'invalid-json': 'Rejected (invalid JSON)',
} as const satisfies Partial<Record<ProblemCode, UnidentifiedOutcome>>;

/** A refusal with a row in the log, which rides in the next commit: the answer does not wait for it. */
function refuse(
  webhook: ServedWebhook,
  deps: IngressDeps,
  problem: keyof typeof outcomeOf,
  size: number,
  authenticatedBy?: string,
  reason?: string,
): IngressOutcome {
  const row = metadata(webhook, deps, size);
  deps.deliveryLog.recordUnidentified({ ...row, outcome: outcomeOf[problem], authenticatedBy, reason });
  return { result: 'refused', webhook, problem, deliveryId: row.id };
}

async function record(
  webhook: ServedWebhook,
  deps: IngressDeps,
  delivery: AcceptedDelivery,
): Promise<IngressOutcome> {
  try {
    const { id, duplicateOf } = await deps.deliveryLog.recordAccepted(delivery);
    if (duplicateOf === undefined) return { result: 'accepted', webhook, deliveryId: id };
    return { result: 'duplicate', webhook, deliveryId: duplicateOf };
  } catch (cause) {
    if (!(cause instanceof DeliveryLogError)) throw cause;
    return { result: 'refused', webhook, problem: 'unavailable', retryAfterSeconds: 1, cause };
  }
}

function newRuns(automations: readonly string[], { nowMs, randomBytes }: IngressDeps): NewRun[] {
  return automations.map(automation => ({
    id: createSortableId('run', nowMs(), randomBytes(sortableIdRandomBytes)),
    automation,
  }));
}

function metadata(
  webhook: ServedWebhook,
  { nowMs, randomBytes }: IngressDeps,
  size: number,
): DeliveryMetadata {
  const atMs = nowMs();
  const { factory, name, uid, appliedState } = webhook;
  return {
    id: createSortableId('dlv', atMs, randomBytes(sortableIdRandomBytes)),
    factory,
    webhook: name,
    uid,
    atMs,
    size,
    appliedState,
  };
}
