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

const runVerbs = [
  ...(['replay', 'retryRun', 'dismissRun', 'cancelRun', 'approveRun'] as const),
  ...(['pauseAutomation', 'resumeAutomation'] as const),
] as const satisfies readonly (keyof DeliveryLog)[];

/** A verb by which an operation changes which runs there are, or which may start. */
export type RunVerb = (typeof runVerbs)[number];

/** The part of the delivery log with these verbs. */
export type QueueableRuns = Pick<DeliveryLog, RunVerb>;

/** Makes this part of a delivery log, verb by verb. Each must take and return what the delivery log's does. */
export function makeRunVerbs(make: (verb: RunVerb) => (argument: never) => Promise<unknown>): QueueableRuns {
  return Object.fromEntries(runVerbs.map(verb => [verb, make(verb)])) as unknown as QueueableRuns;
}
