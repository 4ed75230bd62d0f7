import { opendir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { pruneIntervalMs } from '../schema/limits.ts';
import type { DeliveryLog } from '../store/delivery-log.ts';
import { DeliveryLogError } from '../store/delivery-log-error.ts';
import { openDeliveryLogReader } from '../store/delivery-log-reader.ts';
import { type Home, makePrivateDirectory } from '../store/home.ts';
import { isRunDirectoryName, removeRunDirectory } from './run-directory.ts';
import type { DaemonSettings } from './settings.ts';

export interface RetentionOptions {
  readonly deliveryLog: Pick<DeliveryLog, 'prune'>;
  readonly home: Home;
  readonly settings: DaemonSettings['retention'];
  readonly log: Logger;
  readonly nowMs: () => number;
}

export interface Retention {
  /** Resolves when no pass is under way. The closing of the delivery log ends one early. */
  stop(): Promise<void>;
}

/** Removes what the settings no longer keep, deliveries with their runs and the runs' directories: now, then hourly. */
export function startRetention(options: RetentionOptions): Retention {
  const { log } = options;
  const handled = (work: Promise<void>) =>
    work.catch((error: unknown) => {
      if (error instanceof DeliveryLogError && error.code === 'closed') return;
      log.error({ err: error }, 'not all that retention no longer keeps is removed; the next pass goes on');
    });
  let passing = handled(removeOld(options)).then(() => handled(removeUnknown(options)));
  const timer = setInterval(() => {
    passing = passing.then(() => handled(removeOld(options)));
  }, pruneIntervalMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      await passing;
    },
  };
}

async function removeOld({ deliveryLog, home, settings, log, nowMs }: RetentionOptions): Promise<void> {
  const keepSinceMs = nowMs() - settings.days * dayMs;
  const { deliveries, runIds } = await deliveryLog.prune({ keepNewest: settings.deliveries, keepSinceMs });
  for (const id of runIds) await removeRunDirectory(home.runsDirectory, id);
  if (deliveries > 0) log.info({ deliveries, runs: runIds.length }, 'removed what retention no longer keeps');
}

const dayMs = 24 * 60 * 60 * 1000;

/** Directories of runs that left the log just before an earlier daemon died. */
async function removeUnknown({ home }: RetentionOptions): Promise<void> {
  await makePrivateDirectory(home.runsDirectory);
  const reader = openDeliveryLogReader(home.deliveryLogFile);
  try {
    for await (const { name } of await opendir(home.runsDirectory)) {
      if (!isRunDirectoryName(name) || reader.findRun(name)) continue;
      await removeRunDirectory(home.runsDirectory, name);
    }
  } finally {
    reader.close();
  }
}
