import { collectEventHeaders } from '../../schema/header-value.ts';
import { uidPattern } from '../../schema/ids.ts';
import { readFormPayload } from '../../schema/payloads/form-payload.ts';
import { joinReason, splitReason } from '../../signatures/explanation.ts';
import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type { Authentication, IngressRequest } from '../authentication/ingress-request.ts';
import { parseJsonBody, type UnreadBody } from '../http/bodies.ts';
import type { ServedWebhook } from '../served/served-webhook.ts';
import type { IngressOutcome } from './answer.ts';
import type { Budgets } from './budgets.ts';
import { compressedBody, explainInvalidBody, isCompressed } from './explain-invalid-body.ts';
import {
  type RecordDeps,
  recordDelivery,
  recordHandshake,
  recordRefusal,
  unavailable,
  type Verified,
} from './record-delivery.ts';

/** @limit Wait that a 503 asks the sender for while a webhook cannot be served, in seconds: an operator must act. */
const notServedSeconds = 30;

export interface IngressDeps extends RecordDeps {
  readonly findWebhook: (uid: string) => ServedWebhook | undefined;
  /** Whether a webhook that cannot be served now has this UID, or may have it. */
  readonly isUnserved: (uid: string) => boolean;
  readonly budgets: Budgets;
  /** The rate limit of a webhook, in deliveries per minute. */
  readonly findRate: (webhook: ServedWebhook) => number;
}

/** The last segments of the path of a delivery, as they were sent. */
export interface DeliveryTarget {
  readonly uid: string;
  readonly token: string | undefined;
}

/**
 * Decides the outcome of a request; `target` is undefined if its path and method are no delivery's. Makes the cheapest checks first, reads the body only if needed, and accepts a
 * delivery only after its commit.
 */
export async function receiveDelivery(
  request: IngressRequest,
  target: DeliveryTarget | undefined,
  deps: IngressDeps,
): Promise<IngressOutcome> {
  const isPost = request.method === 'POST';
  const uid = target && uidPattern.test(target.uid) ? target.uid : undefined;
  const webhook = uid === undefined ? undefined : deps.findWebhook(uid);
  if (!isPost && webhook?.authenticator.handshakeMethod !== request.method)
    return receiveOtherMethod(request, webhook, deps, uid);
  if (!webhook) return uid !== undefined && deps.isUnserved(uid) ? notServed : notFound;
  const token = target?.token;
  // Only url_token webhooks have a path segment after the UID.
  if (token !== undefined && webhook.authMode !== 'url_token') return notFound;

  const sender = await authenticate(request, webhook, token && decodeUnreserved(token), deps);
  if (sender.result !== 'verified') return sender;
  const { body, schemeDeliveryId, contentDigest, verifiedWith } = sender;
  const handshake = sender.handshake ?? webhook.authenticator.answerVerified?.(request, body);
  if (!isPost && !handshake) return methodNotAllowed;

  const spent = await deps.budgets.countDelivery(webhook.uid, deps.findRate(webhook));
  if (spent === 'uncounted') return unavailable(webhook);
  if (spent) return { result: 'refused', webhook, problem: 'too-many-deliveries', ...spent };

  if (handshake) return recordHandshake(webhook, deps, handshake, body.length, sender);

  const { form } = webhook;
  const parsed = form ? readFormPayload(body, form) : parseJsonBody(body);
  if (!parsed || !('value' in parsed)) return refuseInvalidJson(request, webhook, deps, body, sender);

  const { value: payload, toJson } = parsed;
  const identity = webhook.identify({ headers: request.headers, body, payload, toJson, schemeDeliveryId });
  const headers = collectEventHeaders(request.headers, webhook.keptHeaders);
  const runs = webhook.matchRuns(payload, headers);
  return recordDelivery(
    webhook,
    deps,
    { ...identity, contentDigest, verifiedWith },
    { payload: body, form, headers: request.trace ? request.trace.beginCommit(headers) : headers },
    runs,
  );
}

const notFound: IngressOutcome = { result: 'refused', problem: 'not-found' };
// Several providers disable an endpoint that answers 404.
const notServed: IngressOutcome = {
  result: 'refused',
  problem: 'not-served',
  retryAfterSeconds: notServedSeconds,
};
const methodNotAllowed: IngressOutcome = { result: 'refused', problem: 'method-not-allowed' };

/** The ingress allows only POST, except for a webhook whose provider asks with another method before it delivers. */
async function receiveOtherMethod(
  request: IngressRequest,
  webhook: ServedWebhook | undefined,
  deps: IngressDeps,
  uid: string | undefined,
): Promise<IngressOutcome> {
  if (uid !== undefined && deps.isUnserved(uid)) return notServed;
  const handshake = webhook?.authenticator.answerGet(request);
  if (!webhook || !handshake) return methodNotAllowed;
  return answerStranger(request, webhook, deps, handshake, 0);
}

/**
 * Verifies the sender and reads the body, in the cheapest order: a token before a byte of the body is read, a signature
 * over the body afterwards.
 */
async function authenticate(
  request: IngressRequest,
  webhook: ServedWebhook,
  urlToken: string | undefined,
  deps: IngressDeps,
): Promise<(Authentication & { result: 'verified'; body: Buffer }) | IngressOutcome> {
  const { authenticator } = webhook;
  const early = refuseGuessing(request, webhook, deps);
  if (early) return early;

  const signed = authenticator.coversBody ? await request.readUnverifiedBody() : undefined;
  if (signed?.ok === false) return refuseUnread(request, webhook, deps, signed);

  // Others of this address may have failed while the body was read. From here until a failure is counted, nothing
  // waits, so attempts in flight together cannot exceed the budget.
  const late = signed && refuseGuessing(request, webhook, deps);
  if (late) return late;
  const body = signed?.body ?? noBody;
  const verifying = authenticator.verify(request, { urlToken, body }, deps.nowMs());
  const authentication = verifying instanceof Promise ? await verifying : verifying;
  // While it was verified, others of this address may have failed too.
  const spent = verifying instanceof Promise && refuseGuessing(request, webhook, deps);
  if (spent) return spent;
  if (authentication.result === 'undecided') {
    const { retryAfterSeconds } = authentication;
    return { result: 'refused', webhook, problem: 'no-issuer-keys', retryAfterSeconds };
  }
  if (authentication.result === 'unverified') {
    const size = signed?.body.length ?? request.contentLength ?? 0;
    return refuseUnverified(request, webhook, deps, authentication, size);
  }

  const read = signed ?? (await request.readBody());
  if (read.ok) return { ...authentication, body: read.body };
  const { problem, bytesSeen } = read;
  if (problem !== 'too-large') return { result: 'refused', webhook, problem };
  return recordRefusal(webhook, deps, problem, bytesSeen, authentication);
}

const noBody = Buffer.alloc(0);

function refuseInvalidJson(
  { headers }: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  body: Buffer,
  verified: Verified,
): IngressOutcome {
  if (isCompressed(body, headers)) {
    const reason = joinReason(compressedBody);
    return recordRefusal(webhook, deps, 'body-compressed', body.length, verified, reason);
  }
  const reason = deps.budgets.explain(() => joinReason(explainInvalidBody(body, headers, webhook.form)));
  return recordRefusal(webhook, deps, 'invalid-json', body.length, verified, reason);
}

/** Refuses an address that failed too often, without verifying its attempt. */
function refuseGuessing(
  { clientAddress }: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
): IngressOutcome | undefined {
  const spent = deps.budgets.checkGuessing(webhook.uid, clientAddress);
  return spent && { result: 'refused', webhook, problem: 'too-many-failures', ...spent };
}

/** Refuses an unverified body. One that breaks off, or comes in tiny pieces, counts as a failed attempt. */
function refuseUnread(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  { problem, bytesSeen }: UnreadBody,
): IngressOutcome {
  const isFailure = problem === 'body-incomplete' || problem === 'body-in-pieces';
  if (isFailure) deps.budgets.countFailure(webhook.uid, request.clientAddress);
  const outcome = logStranger(webhook, deps, problem, bytesSeen, () => unreadReasons[problem]);
  return problem === 'too-many-uploads' ? { ...outcome, retryAfterSeconds: uploadsSeconds } : outcome;
}

/** @limit Wait that a 429 for too many uploads asks the sender for, in seconds: a request takes no longer, so they are over. */
const uploadsSeconds = 10;

const unreadReasons = {
  'too-large': 'the body is too large to be verified',
  'body-incomplete': 'the body ended before it was complete',
  'body-in-pieces': 'the body arrived in too many tiny pieces',
  'too-many-uploads': 'too many uploads of unverified senders were in progress',
} as const satisfies Record<UnreadBody['problem'], string>;

function refuseUnverified(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  { handshake, reason, explain }: Authentication & { result: 'unverified' },
  size: number,
): IngressOutcome {
  if (handshake) return answerStranger(request, webhook, deps, handshake, size);
  deps.budgets.countFailure(webhook.uid, request.clientAddress);
  return logStranger(webhook, deps, 'unauthorized', size, () => {
    return (explain && deps.budgets.explain(explain)) ?? reason;
  });
}

/** Answers an unsigned handshake. It counts as a failed attempt, because anyone can send one. */
function answerStranger(
  request: IngressRequest,
  webhook: ServedWebhook,
  deps: IngressDeps,
  handshake: HandshakeAnswer,
  size: number,
): IngressOutcome {
  const spent = refuseGuessing(request, webhook, deps);
  if (spent) return spent;
  deps.budgets.countFailure(webhook.uid, request.clientAddress);
  const leftOut = deps.budgets.sampleRow(webhook.uid);
  if (leftOut === 'leftOut') return { result: 'handshake', webhook, handshake };
  return recordHandshake(webhook, deps, handshake, size, undefined, explainLeftOut(leftOut));
}

/** Refuses an unverified request. Its row is logged unless the webhook had too many of them in this minute. */
function logStranger(
  webhook: ServedWebhook,
  deps: IngressDeps,
  problem: 'unauthorized' | UnreadBody['problem'],
  size: number,
  explain: () => string,
): IngressOutcome & { result: 'refused' } {
  const leftOut = deps.budgets.sampleRow(webhook.uid);
  if (leftOut === 'leftOut') return { result: 'refused', webhook, problem };
  const { cause, remedy } = splitReason(explain());
  const causes = [cause, explainLeftOut(leftOut)].filter(part => part !== undefined);
  const reason = joinReason({ cause: causes.join('; '), remedy });
  return recordRefusal(webhook, deps, problem, size, undefined, reason);
}

function explainLeftOut(rows: number): string | undefined {
  return rows === 0 ? undefined : `${rows} unverified requests before this one were not logged`;
}

/** RFC 3986 section 6.2.2.2: `%7E` is `~`. A malformed escape stays as it is, and matches no token. */
function decodeUnreserved(token: string): string {
  return token.includes('%')
    ? token.replaceAll(/%([2-7][0-9A-Fa-f])/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    : token;
}
