import type { AlertTargets } from '../../operations/alerts/follow-episodes.ts';
import type { QueueableRuns } from '../../operations/factory.ts';
import type { DeliveryLog } from '../../store/delivery-log.ts';
import type { EndMessage } from '../definitions-thread.ts';

/** The tasks of the operations thread. Arguments and results are plain data, because they are copied. */
export type ThreadVerb = 'answerRequest' | 'loadState' | 'readRunAutomation' | 'lookAtWebhooks';

/** The argument of `lookAtWebhooks`; without `alerts`, nobody gets any. */
export interface LookArgument {
  readonly nowMs: number;
  readonly alerts: AlertTargets | undefined;
}

/** The verbs by which the thread writes to the delivery log, through the daemon's main thread. */
export type ThreadLog = QueueableRuns & Pick<DeliveryLog, 'recordTallies' | 'recordHealth'>;
export type LogVerb = keyof ThreadLog;

/** Messages to the operations thread. It gets the next operation only after the end of the one before. */
export type ToThread =
  | { readonly kind: 'run'; readonly verb: ThreadVerb; readonly argument: unknown }
  /** The end of the write that the thread asked for. */
  | { readonly kind: 'written'; readonly result: boolean }
  | { readonly kind: 'not-written'; readonly error: unknown }
  | EndMessage;

export type FromThread =
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'write'; readonly verb: LogVerb; readonly argument: never };
