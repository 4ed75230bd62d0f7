import { extname } from 'node:path';
import { openLogThread } from '../../../delivery-log/thread/open-log-thread.ts';
import type { DeliveryLog, DeliveryLogOptions } from '../../../ports/delivery-log.ts';

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
      // What arrives during a commit is committed next, all together. A second batch on its way would part it in two.
      batchesInFlightMax: 1,
      commandsWithDeliveries: true,
    },
    options,
  );
}
