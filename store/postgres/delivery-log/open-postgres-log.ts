import { extname } from 'node:path';
import { openLogThread } from '../../delivery-log/thread/open-log-thread.ts';
import type { DeliveryLog, DeliveryLogOptions } from '../../ports/delivery-log.ts';
import type { PostgresPlace } from '../../ports/store.ts';
import { describeTarget } from '../connection/pool.ts';

/** @limit Batches that a daemon commits at the same time in PostgreSQL: more connections only make the batches smaller. */
const batchesInFlightMax = 2;

/**
 * Opens the delivery log in PostgreSQL. A thread of its own speaks to the server, so that no parsing of rows delays the
 * ingress. Creates or updates the tables. Rejects with DeliveryLogError `version`, `unsafe` or `failed`.
 */
export function openPostgresLog(
  place: PostgresPlace,
  options: DeliveryLogOptions = {},
): Promise<DeliveryLog> {
  return openLogThread(
    {
      // Sources run as .ts, the build as .js.
      script: new URL(`./postgres-log-worker${extname(import.meta.url)}`, import.meta.url),
      workerData: { ...place, batchesInFlightMax },
      name: describeTarget(place.url),
      batchesInFlightMax,
      // A command that waits for a lock must not make deliveries wait.
      commandsWithDeliveries: false,
    },
    options,
  );
}
