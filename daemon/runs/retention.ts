import type { Logger } from 'pino';
import { weeksJudged } from '../../operations/health/judge-health.ts';
import { dayMs, hourMs } from '../../schema/time-units.ts';
import type { DeliveryLog } from '../../store/ports/delivery-log.ts';
import type { Store } from '../../store/ports/store.ts';
import { DeliveryLogError } from '../../store/ports/store-error.ts';
import { doInTurn, untilAborted } from '../background-work.ts';
import type { DaemonSettings } from '../settings.ts';

/** @limit Time between two passes of pruning, in ms: retention is counted in days. */
const pruneIntervalMs = 60 * 60 * 1000;
/** @limit Age in days up to which the hourly tallies of a webhook are kept, or longer if its deliveries are: a row for each hour with a delivery, at most 1,008 of 100 bytes for each webhook. */
const talliedDays = weeksJudged * 7;

export interface RetentionOptions {
  readonly store: Pick<Store, 'deliveries' | 'runFiles' | 'replicas'>;
  readonly deliveryLog: Pick<DeliveryLog, 'prune'>;
  readonly settings: DaemonSettings['retention'];
  readonly log: Logger;
  readonly nowMs: () => number;
}

export interface RetentionTask {
  /** Ends a pass in progress at its next step. The next daemon removes the rest. */
  stop(): Promise<void>;
}

/** Removes deliveries that the settings no longer keep, with their runs and the runs' directories: now, then hourly. */
export function startRetention(options: RetentionOptions): RetentionTask {
  const { log } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const handled = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (error instanceof DeliveryLogError && error.code === 'closed') return;
      log.error({ err: error }, 'cannot remove everything past its retention; the next pass continues');
    });
  const removeOld = () => handled(removeInTurn(options, signal));
  let passing = removeOld().then(() => handled(removeUnknownRuns(options, signal)));
  const timer = setInterval(() => {
    passing = passing.then(removeOld);
  }, pruneIntervalMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await passing;
    },
  };
}

/** Removes what is old, unless another daemon has just done so: then only files are left, which each has of its own. */
async function removeInTurn(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { replicas } = options.store;
  const done = await doInTurn(replicas, 'retention', pruneIntervalMs, lost =>
    removeOldRuns(options, AbortSignal.any([signal, lost]), signal),
  );
  if (!done) await removeUnknownRuns(options, signal);
}

async function removeOldRuns(
  { store, deliveryLog, settings, log, nowMs }: RetentionOptions,
  signal: AbortSignal,
  stopping: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const keepSinceMs = nowMs() - settings.days * dayMs;
  const keepTalliesSinceHour = Math.floor((nowMs() - Math.max(settings.days, talliedDays) * dayMs) / hourMs);
  const pruning = deliveryLog.prune({ keepNewest: settings.deliveries, keepSinceMs, keepTalliesSinceHour });
  // The first pass over a large log takes long, so a stop does not wait for it: closing the log ends it.
  const pruned = await untilAborted(pruning, stopping);
  if (!pruned) return;
  const { deliveries, runIds } = pruned;
  for (const id of runIds ?? []) {
    if (signal.aborted) return;
    await removeFiles(id, { store, log });
  }
  if (!runIds) await removeUnknownRuns({ store, log }, signal);
  if (deliveries > 0)
    log.info({ deliveries, runs: runIds?.length }, 'removed deliveries past their retention');
}

/** Removes the files of runs that are no longer in the log, which a daemon leaves if it stops during a pass. */
async function removeUnknownRuns(
  { store, log }: Pick<RetentionOptions, 'store' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  for await (const id of store.runFiles.list()) {
    if (signal.aborted) return;
    if (!(await store.deliveries.findRun(id))) await removeFiles(id, { store, log });
  }
}

/** Removes the files of a run. If its command left something that cannot be removed, the other runs are not affected. */
async function removeFiles(
  run: string,
  { store, log }: Pick<RetentionOptions, 'store' | 'log'>,
): Promise<void> {
  await store.runFiles
    .remove(run)
    .catch(err => log.warn({ run, err }, 'cannot remove the files of a run; the next daemon tries again'));
}
