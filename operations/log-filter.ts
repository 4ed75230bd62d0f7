import type { Outcome, RunState } from '../schema/delivery.ts';

/** A choice of deliveries or runs, in the words of people. An absent field lets all through. */
export interface LogFilter {
  /** The webhook's UID, its name, or its name when the delivery arrived. */
  readonly webhook?: string | undefined;
  /** Only for deliveries. */
  readonly outcome?: Outcome | undefined;
  /** The runs' automation; for deliveries, the automation of one of their runs. */
  readonly automation?: string | undefined;
  readonly state?: RunState | undefined;
  /** See `isOfEventType`. */
  readonly event?: string | undefined;
  /** A text in the payload. */
  readonly search?: string | undefined;
  /** The earliest time of arrival or creation. */
  readonly sinceMs?: number | undefined;
  /** The end of the time of arrival or creation, exclusive. */
  readonly untilMs?: number | undefined;
}
