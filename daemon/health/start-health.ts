import type { Logger } from 'pino';
import type { AlertTargets } from '../../operations/alerts/follow-episodes.ts';
import type { DeliveryLog } from '../../store/delivery-log.ts';
import type { Replicas } from '../../store/replicas.ts';
import { doInTurn } from '../do-in-turn.ts';
import type { OperationsThread } from '../operations-thread/operations-thread.ts';
import type { LookArgument } from '../operations-thread/wire.ts';

/** @limit Time between two looks at the health of webhooks, in ms: what is wrong is known within a few seconds. */
const lookEveryMs = 5_000;
/** @limit Time from the first delivery after a pause to a look, in ms: usually, more deliveries follow at once. */
const lookSoonMs = 500;

export interface HealthOptions {
  readonly thread: Pick<OperationsThread, 'run'>;
  readonly deliveryLog: Pick<DeliveryLog, 'recordHealth'>;
  readonly replicas: Pick<Replicas, 'takeTurn'> | undefined;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** Undefined if nobody gets alerts. */
  readonly alerts: AlertTargets | undefined;
  /** Called after each look, which may have opened or ended episodes. */
  readonly onLooked: () => void;
}

export interface HealthTask {
  /** Looks soon if nothing was delivered for a while. Costs next to nothing otherwise. */
  observeDeliveries(): void;
  stop(): void;
}

/** Looks at the health of webhooks every few seconds, in the operations thread. With replicas, one of them does. */
export function startHealth(options: HealthOptions): HealthTask {
  const { thread, deliveryLog, replicas, log, nowMs, alerts, onLooked } = options;
  let isStopped = false;
  let hasFailed = false;
  /** Whether the last look found no new delivery, so that the next one is worth a look of its own. */
  let isQuiet = true;
  let timer: NodeJS.Timeout;
  const lookIn = (ms: number) => {
    clearTimeout(timer);
    if (!isStopped) timer = setTimeout(lookAndGoOn, ms).unref();
  };
  const look = async () => {
    const argument: LookArgument = { nowMs: nowMs(), alerts };
    // This comes first, because silence counts only while a daemon judges.
    const isDue = await deliveryLog.recordHealth({ nowMs: argument.nowMs, judged: [] });
    // Episodes of alerts may be open for webhooks that are not due.
    return isDue || alerts ? thread.run('lookAtWebhooks', argument) : false;
  };
  const lookAndGoOn = async () => {
    isQuiet = false;
    try {
      const done = await doInTurn(replicas, 'health', lookEveryMs, look);
      isQuiet = done?.result === false;
      hasFailed = false;
      onLooked();
    } catch (error) {
      // A log that cannot be written says so itself, and is full for a long time.
      if (!isStopped && !hasFailed) log.warn({ err: error }, 'cannot look at the health of webhooks yet');
      hasFailed = true;
    }
    lookIn(lookEveryMs);
  };
  lookIn(lookEveryMs);
  return {
    observeDeliveries: () => {
      if (!isQuiet) return;
      isQuiet = false;
      lookIn(lookSoonMs);
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
