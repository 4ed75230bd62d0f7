import type { AppliedState } from '../schema/applied-state.ts';
import type { DeliveryLog } from '../store/ports/delivery-log.ts';
import type { Store } from '../store/ports/store.ts';

/** A factory, with everything that operations on it need. */
export interface Factory {
  readonly name: string;
  readonly store: Store;
  readonly now: () => Date;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A factory whose delivery log may already be open. */
export interface LoggedFactory extends Factory {
  /** Lets `work` write to the delivery log. */
  readonly useDeliveryLog: <T>(work: (log: QueueableRuns) => Promise<T>) => Promise<T>;
}

/** A factory whose applied state may be served from memory. */
export interface OpenFactory extends LoggedFactory {
  /** The applied state that deliveries are currently judged by. Fails with `state-unreadable`. */
  readonly readState: () => Promise<AppliedState>;
}

/** The part of the delivery log that queues runs, or lets queued ones start. */
export type QueueableRuns = Pick<DeliveryLog, 'replay' | 'retryRun' | 'dismissRun'>;
