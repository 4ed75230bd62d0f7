import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { backOffMs } from '../../operations/back-off.ts';
import type { DeliveryLog, Run } from '../../store/delivery-log.ts';
import { DeliveryLogError } from '../../store/delivery-log-error.ts';
import type { Store } from '../../store/ports.ts';
import type { RunSettings } from '../settings.ts';
import { attemptRun } from './run-attempt.ts';
import { promptsIn } from './run-prompts.ts';
import type { AttemptResult, Runner } from './runners/runner.ts';

/** @limit Time between two looks for queued runs, in ms: a run that a command queued is unseen for no longer. */
const runPollMs = 2_000;

export interface RunQueueOptions {
  readonly deliveryLog: DeliveryLog;
  readonly store: Pick<Store, 'runFiles'>;
  readonly settings: RunSettings;
  readonly runner: Runner;
  /** Another one each time a daemon starts. */
  readonly daemonId: string;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface RunQueue {
  /** Runs may be due: looks at once. */
  wake(): void;
  /** Claims no more and ends the attempts under way; those that were cut short are queued again. */
  stop(): Promise<void>;
}

/**
 * Executes the runs of the delivery log, each at least once. First takes back what a daemon before this one left
 * running, so no other may be at work on this log.
 */
export async function startRunQueue(options: RunQueueOptions): Promise<RunQueue> {
  const { deliveryLog, settings, daemonId, log, nowMs } = options;
  const { runFiles } = options.store;
  const deps = { deliveryLog, promptOf: promptsIn(deliveryLog), runFiles, runner: options.runner };
  const stopping = new AbortController();
  const { signal } = stopping;
  const executing = new Set<Promise<void>>();
  let claiming: Promise<void> | undefined;
  let wokenMeanwhile = false;
  let timer: NodeJS.Timeout | undefined;

  const wake = () => {
    wokenMeanwhile = true;
    claiming ??= claimWhileWoken().finally(() => {
      claiming = undefined;
    });
  };

  const claimWhileWoken = async () => {
    while (wokenMeanwhile && !signal.aborted) {
      wokenMeanwhile = false;
      clearTimeout(timer);
      const nextDueMs = await claimDueRuns();
      // With all places taken, the end of an attempt wakes.
      if (executing.size >= settings.concurrency || signal.aborted) continue;
      const waitMs = Math.min(runPollMs, Math.max(0, (nextDueMs ?? Infinity) - nowMs()));
      timer = setTimeout(wake, waitMs);
    }
  };

  const claimDueRuns = async (): Promise<number | undefined> => {
    const limit = settings.concurrency - executing.size;
    if (limit <= 0) return undefined;
    try {
      const { runs, nextDueMs } = await deliveryLog.claimRuns({ daemonId, nowMs: nowMs(), limit });
      for (const run of runs) begin(run);
      return nextDueMs;
    } catch (error) {
      log.error({ err: error }, 'runs cannot be claimed now');
      return undefined;
    }
  };

  const begin = (run: Run) => {
    const execution = execute(run).finally(() => {
      executing.delete(execution);
      wake();
    });
    executing.add(execution);
  };

  const execute = async (run: Run) => {
    const about = {
      run: run.id,
      delivery: run.deliveryId,
      automation: run.automation,
      attempt: run.attempts,
    };
    try {
      const result = await attemptRun(run, deps, signal).catch((error: unknown) => mishap(error));
      await record(run, result);
      const level = result.kind === 'succeeded' ? 'info' : 'warn';
      log[level]({ ...about, ...result }, 'an attempt at a run ended');
    } catch (error) {
      log.error(
        { ...about, err: error },
        'the result of an attempt is not recorded; the next daemon repeats it',
      );
    }
  };

  /** A result that cannot be written now holds its place until it can: no run stays running for ever. */
  const record = async (run: Run, result: AttemptResult): Promise<void> => {
    for (;;) {
      try {
        await settle(run, result);
        return;
      } catch (error) {
        if (!(error instanceof DeliveryLogError) || error.code !== 'failed' || signal.aborted) throw error;
        log.error({ run: run.id, err: error }, 'the result of an attempt cannot be recorded yet');
        await sleep(runPollMs, undefined, { signal });
      }
    }
  };

  const settle = (run: Run, result: AttemptResult): Promise<boolean> => {
    const { id, attempts } = run;
    const { kind, reason: error } = result;
    const atMs = nowMs();
    if (kind !== 'retry') return deliveryLog.finishRun({ id, state: kind, atMs, error });
    if (signal.aborted) return deliveryLog.postponeRun({ id, notBeforeMs: atMs, error });
    if (attempts >= settings.attempts) {
      return deliveryLog.finishRun({ id, state: 'failed', atMs, error });
    }
    const waitMs = Math.max(backOffMs(attempts, settings.backOff, options.random()), result.afterMs ?? 0);
    return deliveryLog.postponeRun({ id, notBeforeMs: atMs + waitMs, error });
  };

  const taken = await deliveryLog.requeueRunsOfOthers(daemonId);
  if (taken > 0) log.warn({ runs: taken }, 'runs that a daemon left unfinished are queued again');
  wake();

  return {
    wake,
    stop: async () => {
      stopping.abort();
      clearTimeout(timer);
      await claiming;
      await Promise.all(executing);
    },
  };
}

/** hookmill itself could not do its part: a full disk, an unreadable log. */
function mishap(error: unknown): AttemptResult {
  const what = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return { kind: 'retry', reason: `the run could not be executed (${what})` };
}
