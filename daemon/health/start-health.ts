import type { Logger } from 'pino';
import type { Replicas } from '../../store/replicas.ts';
import type { AlertSettings } from '../alerts/start-alerts.ts';
import { doInTurn } from '../do-in-turn.ts';
import type { OperationsThread } from '../operations-thread/operations-thread.ts';
import type { LookArgument } from '../operations-thread/wire.ts';

/** @limit Time between two looks at the health of webhooks, in ms: what is wrong is known within a few seconds. */
const lookEveryMs = 5_000;

export interface HealthOptions {
  readonly thread: Pick<OperationsThread, 'run'>;
  readonly replicas: Pick<Replicas, 'takeTurn'> | undefined;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** Undefined if nobody gets alerts. */
  readonly alerts: AlertSettings | undefined;
}

/** Looks at the health of webhooks every few seconds, in the operations thread. With replicas, one of them does. */
export function startHealth({ thread, replicas, log, nowMs, alerts }: HealthOptions): { stop(): void } {
  let isLooking = false;
  let isStopped = false;
  let hasFailed = false;
  const look = () => thread.run('lookAtWebhooks', { nowMs: nowMs(), alerts } satisfies LookArgument);
  const lookOnce = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      await doInTurn(replicas, 'health', lookEveryMs, look);
      hasFailed = false;
    } catch (error) {
      // A log that cannot be written says so itself, and is full for a long time.
      if (!isStopped && !hasFailed) log.warn({ err: error }, 'cannot look at the health of webhooks yet');
      hasFailed = true;
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void lookOnce(), lookEveryMs).unref();
  return {
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
