import type { Logger } from 'pino';
import { type AlertTargets, listWatched } from '../../operations/attention/follow-episodes.ts';
import type { Alerts } from '../../store/ports/alerts.ts';
import type { DeliveryLog } from '../../store/ports/delivery-log.ts';
import type { Replicas } from '../../store/ports/replicas.ts';
import { doInTurn, untilAborted } from '../background-work.ts';
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
  readonly alerts: Pick<Alerts, 'read'>;
  readonly targets: AlertTargets;
  /** Called after each look, which may have opened or ended episodes. */
  readonly onLooked: () => void;
}

export interface HealthTask {
  /** Looks soon if nothing was delivered for a while. Costs next to nothing otherwise. */
  observeDeliveries(): void;
  /** Resolves when nothing more is done, except by the operations thread. */
  stop(): Promise<void>;
}

/** Looks at the health of webhooks every few seconds, in the operations thread. With replicas, one of them does. */
export function startHealth(options: HealthOptions): HealthTask {
  const { thread, deliveryLog, replicas, log, nowMs, alerts, targets, onLooked } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let looking: Promise<void> | undefined;
  let hasFailed = false;
  /** Whether the last look found no new delivery, so that the next one is worth a look of its own. */
  let isQuiet = true;
  let timer: NodeJS.Timeout;
  const lookIn = (ms: number) => {
    clearTimeout(timer);
    const start = () => {
      looking = lookAndGoOn();
    };
    if (!signal.aborted) timer = setTimeout(start, ms).unref();
  };
  const look = async () => {
    const argument: LookArgument = { nowMs: nowMs(), targets };
    // This comes first, because silence counts only while a daemon judges.
    const isDue = await deliveryLog.recordHealth({ nowMs: argument.nowMs, judged: [] });
    // Episodes of alerts may be open for webhooks that are not due.
    if (!isDue && listWatched(await alerts.read()).length === 0) return false;
    // A look may take seconds: closing the thread ends it.
    return (await untilAborted(thread.run('lookAtWebhooks', argument), signal)) ?? false;
  };
  const lookAndGoOn = async () => {
    isQuiet = false;
    try {
      const done = await doInTurn(replicas, 'health', lookEveryMs, look);
      isQuiet = done?.result === false;
      hasFailed = false;
      if (!signal.aborted) onLooked();
    } catch (error) {
      // A log that cannot be written says so itself, and is full for a long time.
      if (!signal.aborted && !hasFailed)
        log.warn({ err: error }, 'cannot look at the health of webhooks yet');
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
    stop: async () => {
      stopping.abort();
      clearTimeout(timer);
      await looking;
    },
  };
}
