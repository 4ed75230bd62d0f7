import type { UnidentifiedOutcome } from '../../schema/delivery.ts';
import type { Identity } from '../../schema/identity.ts';
import { createSortableId, sortableIdRandomBytes } from '../../schema/ids.ts';
import type { HandshakeAnswer } from '../../signatures/handshake.ts';
import type {
  AcceptedDelivery,
  DeliveryLog,
  DeliveryMetadata,
  NewRun,
} from '../../store/ports/delivery-log.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import type { ServedWebhook, StartingRun } from '../served/served-webhook.ts';
import type { IngressOutcome, ProblemCode } from './answer.ts';

/** @limit Wait that a 503 asks the sender for, in seconds: most failed commits succeed at the next try. */
const unavailableSeconds = 1;

export interface RecordDeps {
  readonly deliveryLog: Pick<DeliveryLog, 'recordAccepted' | 'recordUnidentified'>;
  readonly nowMs: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Which value of the secret verified a delivery. */
export type Verified = Pick<DeliveryMetadata, 'verifiedWith'>;

/** Commits the delivery with its runs, or finds the delivery that it duplicates. Refuses with 503 if that fails. */
export async function recordDelivery(
  webhook: ServedWebhook,
  deps: RecordDeps,
  identity: Identity & Verified & { readonly contentDigest: string | undefined },
  event: Pick<AcceptedDelivery, 'payload' | 'form' | 'headers'>,
  runs: readonly StartingRun[],
): Promise<IngressOutcome> {
  try {
    const metadata = createMetadata(webhook, deps, event.payload.length);
    const { id, duplicateOf } = await deps.deliveryLog.recordAccepted({
      ...metadata,
      authenticatedBy: webhook.authenticatedBy,
      ...identity,
      identity: identity.identity ?? metadata.id,
      ...event,
      runs: nameRuns(runs, deps),
    });
    if (duplicateOf === undefined) return { result: 'accepted', webhook, deliveryId: id };
    return { result: 'duplicate', webhook, deliveryId: duplicateOf };
  } catch (cause) {
    if (!(cause instanceof DeliveryLogError)) throw cause;
    return { ...unavailable(webhook), cause };
  }
}

/** Refuses a delivery that cannot be recorded now. */
export function unavailable(webhook: ServedWebhook): IngressOutcome & { result: 'refused' } {
  return { result: 'refused', webhook, problem: 'unavailable', retryAfterSeconds: unavailableSeconds };
}

/** Logs a handshake, and returns the answer that the provider requires. It starts no run. */
export function recordHandshake(
  webhook: ServedWebhook,
  deps: RecordDeps,
  handshake: HandshakeAnswer,
  size: number,
  verified?: Verified,
  reason?: string,
): IngressOutcome {
  const row = createMetadata(webhook, deps, size);
  deps.deliveryLog.recordUnidentified({
    ...row,
    ...toVerified(webhook, verified),
    ...{ outcome: 'Handshake', reason },
  });
  return { result: 'handshake', webhook, handshake, deliveryId: row.id };
}

const refusalOutcomes = {
  unauthorized: 'Rejected (auth)',
  'body-incomplete': 'Rejected (auth)',
  'body-in-pieces': 'Rejected (auth)',
  'too-many-uploads': 'Rejected (auth)',
  'too-large': 'Rejected (too large)',
  'invalid-json': 'Rejected (invalid JSON)',
  'body-compressed': 'Rejected (invalid JSON)',
} as const satisfies Partial<Record<ProblemCode, UnidentifiedOutcome>>;

/** Refuses and logs a row. A body that was not read completely is logged as too large, or else as unauthenticated, because only bodies of unverified senders are logged otherwise. The next commit includes the row; the answer does not wait for it. */
export function recordRefusal(
  webhook: ServedWebhook,
  deps: RecordDeps,
  problem: keyof typeof refusalOutcomes,
  size: number,
  verified?: Verified,
  reason?: string,
): IngressOutcome & { result: 'refused' } {
  const row = createMetadata(webhook, deps, size);
  const outcome = refusalOutcomes[problem];
  const isLogged = deps.deliveryLog.recordUnidentified({
    ...row,
    ...toVerified(webhook, verified),
    ...{ outcome, reason },
  });
  return { result: 'refused', webhook, problem, ...(isLogged && { deliveryId: row.id }) };
}

/** The columns that only the row of a verified request has. */
function toVerified({ authenticatedBy }: ServedWebhook, verified: Verified | undefined) {
  return verified && { authenticatedBy, verifiedWith: verified.verifiedWith };
}

function nameRuns(runs: readonly StartingRun[], { nowMs, randomBytes }: RecordDeps): NewRun[] {
  return runs.map(run => ({
    id: createSortableId('run', nowMs(), randomBytes(sortableIdRandomBytes)),
    ...run,
  }));
}

function createMetadata(
  webhook: ServedWebhook,
  { nowMs, randomBytes }: RecordDeps,
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
