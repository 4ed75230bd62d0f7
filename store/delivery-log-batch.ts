import { deliveriesPerCommitMax, deliveryBytesPerCommitMax } from '../schema/limits.ts';
import type {
  AcceptedDelivery,
  AppliedStateRef,
  LoggedDelivery,
  Recorded,
  UnidentifiedDelivery,
} from './delivery-log.ts';
import type { DeliveryLogError } from './delivery-log-error.ts';
import type {
  AcceptedRow,
  Batch,
  Command,
  Committed,
  DeliveryRow,
  SentAppliedState,
} from './delivery-log-wire.ts';

/** A delivery that waits for its commit. Nobody waits for a rejection's. */
export type WaitingDelivery = WaitingAccepted | WaitingRejected;

interface WaitingAccepted {
  readonly kind: 'accepted';
  readonly delivery: AcceptedDelivery;
  readonly resolve: (recorded: Recorded) => void;
  readonly reject: (error: DeliveryLogError) => void;
}

interface WaitingRejected {
  readonly kind: 'rejected';
  readonly delivery: UnidentifiedDelivery;
}

export interface WaitingCommand {
  readonly command: Command;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: DeliveryLogError) => void;
}

export interface WaitingBatch {
  readonly deliveries: readonly WaitingDelivery[];
  readonly commands: readonly WaitingCommand[];
}

export function payloadBytes(waiting: WaitingDelivery): number {
  return waiting.kind === 'accepted' ? waiting.delivery.payload.length : 0;
}

/** How many of the first deliveries one transaction takes: within its bounds, and at least one. */
export function batchLength(waiting: readonly WaitingDelivery[]): number {
  let bytes = 0;
  for (const [index, delivery] of waiting.entries()) {
    bytes += payloadBytes(delivery);
    if (index === deliveriesPerCommitMax || (index > 0 && bytes > deliveryBytesPerCommitMax)) return index;
  }
  return waiting.length;
}

/** `statesSent` holds the digest last sent for each factory, and is brought up to date. */
export function packDeliveries(
  waiting: readonly WaitingDelivery[],
  statesSent: Map<string, string>,
): Pick<Batch, 'deliveries' | 'payloads'> {
  const payloads = new Uint8Array(waiting.reduce((bytes, delivery) => bytes + payloadBytes(delivery), 0));
  let offset = 0;
  const deliveries = waiting.map((delivery): DeliveryRow => {
    if (delivery.kind === 'rejected') return delivery.delivery;
    payloads.set(delivery.delivery.payload, offset);
    offset += delivery.delivery.payload.length;
    return packAccepted(delivery.delivery, statesSent);
  });
  return { deliveries, payloads: payloads.buffer };
}

export function resolveAll({ deliveries, commands }: WaitingBatch, { duplicates, results }: Committed): void {
  const originals = new Map(duplicates.map(({ index, of }) => [index, of]));
  for (const [index, waiting] of deliveries.entries()) {
    if (waiting.kind !== 'accepted') continue;
    const duplicateOf = originals.get(index);
    const { id } = waiting.delivery;
    waiting.resolve(duplicateOf === undefined ? { id } : { id, duplicateOf });
  }
  for (const [index, { resolve }] of commands.entries()) resolve(results[index]);
}

/** The rows of a committed batch as the log now has them, in their order. */
export function committedRows(
  { deliveries }: WaitingBatch,
  { duplicates }: Committed,
): readonly LoggedDelivery[] {
  const originals = new Map(duplicates.map(({ index, of }) => [index, of]));
  return deliveries.map((waiting, index): LoggedDelivery => {
    if (waiting.kind === 'rejected') return waiting.delivery;
    const { payload, appliedState, runs, ...row } = waiting.delivery;
    const duplicateOf = originals.get(index);
    if (duplicateOf === undefined) return { ...row, outcome: 'Accepted' };
    return { ...row, outcome: 'Duplicate', duplicateOf };
  });
}

export function rejectAll({ deliveries, commands }: WaitingBatch, error: DeliveryLogError): void {
  for (const waiting of deliveries) {
    if (waiting.kind === 'accepted') waiting.reject(error);
  }
  for (const { reject } of commands) reject(error);
}

function packAccepted(delivery: AcceptedDelivery, statesSent: Map<string, string>): AcceptedRow {
  const { payload, appliedState, ...metadata } = delivery;
  const row = { ...metadata, outcome: 'Accepted', payloadBytes: payload.length } as const;
  if (!appliedState) return row;
  return { ...row, appliedState: packAppliedState(delivery.factory, appliedState, statesSent) };
}

function packAppliedState(
  factory: string,
  state: AppliedStateRef,
  statesSent: Map<string, string>,
): SentAppliedState {
  if (statesSent.get(factory) === state.digest) return { digest: state.digest };
  statesSent.set(factory, state.digest);
  return { digest: state.digest, json: state.json };
}
