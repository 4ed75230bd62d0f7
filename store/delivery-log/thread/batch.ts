import type {
  AcceptedDelivery,
  DeliveryMetadata,
  LoggedDelivery,
  NewRun,
  Recorded,
  UnidentifiedDelivery,
} from '../../ports/delivery-log.ts';
import type { DeliveryLogError } from '../../ports/store-error.ts';
import type { Batch, Command, Committed, DeliveryRow, NewRunRow, SentAppliedState } from './wire.ts';

/** @limit Most deliveries in one transaction: the rest goes into the next one, so that no delivery waits long. */
const deliveriesPerCommitMax = 1_000;
/** @limit Most payload bytes in one transaction: the rest goes into the next one, so that no delivery waits long. */
const deliveryBytesPerCommitMax = 8 * 1024 * 1024;

/** A delivery that waits for its commit. A rejected delivery has no promise, because nothing waits for it. */
export type WaitingDelivery = WaitingAccepted | WaitingRejected;

interface WaitingAccepted {
  readonly kind: 'accepted';
  /** The time at which it arrived, by a monotonic clock. */
  readonly sinceMs: number;
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

export function countPayloadBytes(waiting: WaitingDelivery): number {
  return waiting.kind === 'accepted' ? waiting.delivery.payload.length : 0;
}

/** Counts the first deliveries that fit into one transaction: at least one. */
export function countForCommit(waiting: readonly WaitingDelivery[]): number {
  let bytes = 0;
  for (const [index, delivery] of waiting.entries()) {
    bytes += countPayloadBytes(delivery);
    if (index === deliveriesPerCommitMax || (index > 0 && bytes > deliveryBytesPerCommitMax)) return index;
  }
  return waiting.length;
}

/** Packs deliveries for the thread. `statesSent` holds the digest last sent for each factory, and is updated. */
export function packDeliveries(
  waiting: readonly WaitingDelivery[],
  statesSent: Map<string, string>,
): Pick<Batch, 'deliveries' | 'payloads'> {
  const payloads = new Uint8Array(
    waiting.reduce((bytes, delivery) => bytes + countPayloadBytes(delivery), 0),
  );
  let offset = 0;
  const deliveries = waiting.map((delivery): DeliveryRow => {
    const appliedState = packAppliedState(delivery.delivery, statesSent);
    if (delivery.kind === 'rejected') return { ...delivery.delivery, ...appliedState };
    const { payload, form, headers, runs, ...row } = delivery.delivery;
    payloads.set(payload, offset);
    offset += payload.length;
    const packed = {
      headers: JSON.stringify(headers),
      ...(form && { form: JSON.stringify(form) }),
      payloadBytes: payload.length,
    };
    return { ...row, ...appliedState, outcome: 'Accepted', runs: packRuns(runs), ...packed };
  });
  return { deliveries, payloads: payloads.buffer };
}

/**
 * Packs the runs of a delivery for the thread, in the order in which every adapter records them: PostgreSQL records those
 * with a flow by a statement of their own, after the others.
 */
export function packRuns(runs: readonly NewRun[]): NewRunRow[] {
  return runs.map(packRun).sort((a, b) => Number(a.flow !== undefined) - Number(b.flow !== undefined));
}

function packRun({ id, automation, flow, againOf }: NewRun): NewRunRow {
  const row = { id, automation, ...(againOf !== undefined && { againOf }) };
  if (!flow) return row;
  const { burst, order } = flow;
  return {
    ...{ ...row, flow: JSON.stringify(flow) },
    ...(burst && { burst }),
    ...(order?.latest && { latest: order }),
  };
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

/** The rows of a committed batch as the log now has them, in order. */
export function makeCommittedRows(
  { deliveries }: WaitingBatch,
  { duplicates }: Committed,
): readonly LoggedDelivery[] {
  const originals = new Map(duplicates.map(({ index, of }) => [index, of]));
  return deliveries.map((waiting, index): LoggedDelivery => {
    const { appliedState, ...delivery } = waiting.delivery;
    const commit = appliedState?.commit && { commit: appliedState.commit };
    if (!('payload' in delivery)) return { ...delivery, ...commit };
    const { payload, runs, contentDigest, bodyIdentity, sameForMs, headers, form, ...row } = delivery;
    const duplicateOf = originals.get(index);
    if (duplicateOf === undefined)
      return { ...row, ...commit, headers, ...(form && { form }), outcome: 'Accepted' };
    return { ...row, ...commit, outcome: 'Duplicate', duplicateOf };
  });
}

export function rejectAll({ deliveries, commands }: WaitingBatch, error: DeliveryLogError): void {
  for (const waiting of deliveries) {
    if (waiting.kind === 'accepted') waiting.reject(error);
  }
  for (const { reject } of commands) reject(error);
}

function packAppliedState(
  { factory, appliedState }: DeliveryMetadata,
  statesSent: Map<string, string>,
): { readonly appliedState?: SentAppliedState } {
  if (!appliedState) return {};
  const { digest, json } = appliedState;
  if (statesSent.get(factory) === digest) return { appliedState: { digest } };
  statesSent.set(factory, digest);
  return { appliedState: { digest, json } };
}
