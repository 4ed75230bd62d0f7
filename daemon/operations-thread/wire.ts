import type { AlertTargets } from '../../operations/attention/follow-episodes.ts';
import type { QueueableRuns } from '../../operations/factory.ts';
import type { RedeliverRequest } from '../../operations/senders/asked-events.ts';
import type { WatchedWebhook } from '../../store/ports/alerts.ts';
import type { DeliveryLog } from '../../store/ports/delivery-log.ts';
import type { DeliveryLogErrorCode } from '../../store/ports/store-error.ts';
import type { EndMessage } from '../definitions-thread.ts';

/** The tasks of the operations thread. Arguments and results are plain data, because they are copied. */
export type ThreadVerb =
  | 'answerRequest'
  | 'loadState'
  | 'readRunAutomation'
  | 'lookAtWebhooks'
  | 'watchSender'
  | 'recoverMissed'
  | 'findMissed';

/** The argument of `watchSender`; the argument of `recoverMissed` adds a request. */
export interface SenderArgument {
  readonly factory: string;
  readonly uid: string;
  readonly baseUrl: string;
  readonly nowMs: number;
}

/** The argument of `recoverMissed`. */
export interface RecoverArgument extends SenderArgument {
  readonly request: RedeliverRequest;
}

/** The argument of `findMissed`. */
export interface FindMissedArgument {
  readonly factories: readonly string[];
  /** The webhooks for which an alert is open. */
  readonly watched: readonly WatchedWebhook[];
  readonly nowMs: number;
}

/** The argument of `lookAtWebhooks`; without `alerts`, nobody gets any. */
export interface LookArgument {
  readonly nowMs: number;
  readonly targets: AlertTargets;
}

/** The verbs by which the thread writes to the delivery log, through the daemon's main thread. */
export type ThreadLog = QueueableRuns & Pick<DeliveryLog, 'recordTallies' | 'recordHealth'>;
export type LogVerb = keyof ThreadLog;

/** Messages to the operations thread. It gets the next job only when the one before has ended or waits. */
export type ToThread =
  | { readonly kind: 'run'; readonly job: number; readonly verb: ThreadVerb; readonly argument: unknown }
  /** A job that was ready to go on may do so. */
  | { readonly kind: 'goes-on'; readonly job: number }
  /** The end of a write that the thread asked for. */
  | { readonly kind: 'written'; readonly write: number; readonly result: unknown }
  | {
      readonly kind: 'not-written';
      readonly write: number;
      readonly code: DeliveryLogErrorCode;
      readonly message: string;
    }
  | EndMessage;

export type FromThread =
  | { readonly kind: 'done'; readonly job: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly job: number; readonly error: unknown }
  /** The job waits for other processes. Others may run until it is ready, and it goes on when it may. */
  | { readonly kind: 'waits' | 'ready'; readonly job: number }
  | { readonly kind: 'write'; readonly write: number; readonly verb: LogVerb; readonly argument: never };
