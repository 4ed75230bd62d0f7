import { extname } from 'node:path';
import type { DeliveryLog, DeliveryLogOptions } from '../../../delivery-log.ts';
import { openLogThread } from '../../../delivery-log-thread/open-log-thread.ts';

/**
 * Opens the delivery log in a thread of its own. The file is created if it is missing; its directory must exist.
 * Rejects with DeliveryLogError `version` or `unsafe`, or with an error of the file system.
 */
export function openDeliveryLog(file: string, options: DeliveryLogOptions = {}): Promise<DeliveryLog> {
  return openLogThread(
    {
      // Sources run as .ts, the build as .js.
      script: new URL(`./delivery-log-worker${extname(import.meta.url)}`, import.meta.url),
      workerData: { file },
      name: file,
      // One is committed while the next one waits in the thread, which so has something to do at any time.
      batchesInFlightMax: 2,
      commandsWithDeliveries: true,
    },
    options,
  );
}
