import type { Outcome, RunState } from '../schema/delivery.ts';

/** Which deliveries or runs are meant, as people say it. What is absent lets all through. */
export interface LogFilter {
  /** The webhook's UID, its name, or its name when the delivery arrived. */
  readonly webhook?: string | undefined;
  /** Only for deliveries. */
  readonly outcome?: Outcome | undefined;
  /** The runs' automation; for deliveries, that of one of their runs. */
  readonly automation?: string | undefined;
  readonly state?: RunState | undefined;
  /** See `isOfEventType`. */
  readonly event?: string | undefined;
  /** A text in the payload. */
  readonly search?: string | undefined;
  /** Arrived, or created, at this time or later. */
  readonly sinceMs?: number | undefined;
  /** Before this time. */
  readonly untilMs?: number | undefined;
}
