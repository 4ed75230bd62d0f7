import type { AlertTargets, Finding } from '../../operations/attention/follow-episodes.ts';
import type { QueueableRuns } from '../../operations/factory.ts';
import type { Recovered, RedeliverRequest, Watched } from '../../operations/senders/asked-events.ts';
import type { OwnBaseUrl } from '../../schema/ingress-url.ts';
import type { WatchedWebhook } from '../../store/ports/alerts.ts';
import type { DeliveryLog } from '../../store/ports/delivery-log.ts';
import type { ThreadAnswer, ThreadRequest } from '../management/api/thread-request.ts';
import type { ReadRunAutomation } from '../runs/run-automations.ts';
import type { LoadedState } from '../served/loaded-state.ts';

/** The tasks of the operations thread. Arguments and results are plain data, because they are copied. */
export interface OperationVerbs {
  answerRequest(request: ThreadRequest): Promise<ThreadAnswer>;
  loadState(factory: string): Promise<LoadedState>;
  readonly readRunAutomation: ReadRunAutomation;
  /** Returns whether any webhook was looked at. */
  lookAtWebhooks(argument: LookArgument): Promise<boolean>;
  watchSender(argument: SenderArgument): Promise<Watched>;
  recoverMissed(argument: RecoverArgument): Promise<Recovered>;
  findMissed(argument: FindMissedArgument): Promise<readonly Finding[]>;
}

/** The tasks as the thread offers them: each is told its number. */
export type ThreadVerbs = {
  readonly [Name in keyof OperationVerbs]: (
    argument: Parameters<OperationVerbs[Name]>[0],
    job: number,
  ) => ReturnType<OperationVerbs[Name]>;
};

/** The argument of `watchSender`; the argument of `recoverMissed` adds a request. */
export interface SenderArgument {
  readonly factory: string;
  readonly uid: string;
  readonly baseUrl: OwnBaseUrl;
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

/** The part of the delivery log that the thread writes, through the daemon's main thread. */
export type ThreadLog = QueueableRuns & Pick<DeliveryLog, 'recordTallies' | 'recordHealth'>;

/** The functions of the main thread that the operations thread calls. */
export interface MainVerbs extends ThreadLog {
  /** The job waits for other processes, and others may run. */
  waits(job: number): void;
  /** The job is about to change something. It goes on when the main thread knows. */
  changes(job: number): Promise<void>;
  /** Ends when a job that has waited may go on. */
  goesOn(job: number): Promise<void>;
}
