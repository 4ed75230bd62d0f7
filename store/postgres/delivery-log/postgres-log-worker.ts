import { parentPort, workerData } from 'node:worker_threads';
import type { Pool } from 'pg';
import { type EventRecord, toEvent } from '../../delivery-log/stored-rows.ts';
import {
  type AsyncVerbTable,
  type Batch,
  type Command,
  type Committed,
  commandManners,
  type FailedBatch,
  type FromWorker,
  type ToWorker,
  type Verb,
} from '../../delivery-log/thread/wire.ts';
import type { RunDelivery, StoredEvent } from '../../ports/delivery-log.ts';
import type { PostgresPlace } from '../../ports/store.ts';
import { requireDurable } from '../check-database.ts';
import { openPool, waitForClose } from '../connection/pool.ts';
import { toLogFailure } from '../connection/postgres-failure.ts';
import { migrateTables } from '../migrations.ts';
import { Lease, openLeasePool } from './lease.ts';
import { keepPartitionsAhead, openPartitions } from './partitions.ts';
import { preparePruning } from './prune.ts';
import { prepareRecord } from './record.ts';
import { Retries } from './retries.ts';
import { deliveriesOfRun, isDelivery, toIdValues } from './rows.ts';
import { prepareRuns } from './runs.ts';
import { openPostgresSnapshots } from './snapshots.ts';
import { prepareTallies } from './tallies.ts';
import { recordUnlogged } from './unlogged.ts';

/** @limit Time in which PostgreSQL must answer a statement that writes the delivery log, in ms: longer than a delivery waits for its commit, and short enough to notice a network that drops everything. */
const writeMs = 8_000;

// The thread that writes the delivery log in PostgreSQL.
await serve(workerData);

async function serve({
  url,
  directUrl = url,
  mayLose,
  batchesInFlightMax,
}: PostgresPlace & { batchesInFlightMax: number }) {
  const port = parentPort;
  if (!port) throw new Error('the delivery log worker runs in a worker thread');
  const reply = (message: FromWorker) => port.postMessage(message);
  const pool = openPool(url, {
    connectionsMax: batchesInFlightMax,
    answerMs: writeMs,
    // A new connection may lead to another server, so it is checked first.
    keepsIdle: true,
    onConnect: client => requireDurable(client, mayLose),
  });
  // Retention has connections of its own, because it may wait for long transactions of others, and ends that wait.
  const retentionPool = openPool(directUrl, { connectionsMax: 2 });
  const closePools = () => Promise.all([pool.end(), retentionPool.end()]);
  try {
    await migrateTables(pool);
    const partitions = openPartitions(pool);
    const retries = new Retries(pool, partitions);
    const lease = new Lease(openLeasePool(url), () => reply({ kind: 'claimsLost' }));
    const closePartitions = await keepPartitionsAhead(partitions);
    const snapshots = openPostgresSnapshots();
    // Each may be called again after a lost connection or a conflict, when the first call may have succeeded.
    const verbs: AsyncVerbTable = {
      ...prepareRuns(pool, lease, snapshots),
      recordUnlogged: counts => recordUnlogged(pool, counts),
      ...prepareTallies(pool),
      pruneStep: preparePruning(retentionPool),
      readEvent: deliveryId => readEvent(pool, deliveryId),
      readSnapshot: digest => snapshots.read(pool, digest),
      listRunDeliveries: async id => (await pool.query<RunDelivery>(deliveriesOfRun, [id])).rows,
    };
    const commit = prepareCommit(retries, prepareRecord(pool, snapshots), verbs);
    port.on('message', async (message: ToWorker) => {
      if (message.kind === 'batch') return reply(await commit(message));
      closePartitions();
      await waitForClose(lease.end().then(closePools));
      // Ends the thread, also if a connection does not answer.
      process.exit();
    });
    reply({ kind: 'opened' });
  } catch (error) {
    await waitForClose(closePools());
    const { code, message } = toLogFailure(error);
    reply({ kind: 'refused', code, message, error });
  }
}

async function readEvent(pool: Pool, deliveryId: string): Promise<StoredEvent | undefined> {
  const { rows } = await pool.query<EventRecord>(
    `SELECT payload, form, headers FROM hookmill.deliveries WHERE ${isDelivery} AND payload IS NOT NULL`,
    toIdValues(deliveryId),
  );
  return toEvent(rows[0]);
}

/** Commits the deliveries of a batch in one statement, which is one transaction; then its commands, each in its own. */
function prepareCommit(
  retries: Retries,
  record: ReturnType<typeof prepareRecord>,
  verbs: AsyncVerbTable,
): (batch: Batch) => Promise<Committed | FailedBatch> {
  const execute = <V extends Verb>(command: Command<V>) =>
    retries.run(() => verbs[command.verb](command.argument));
  return async batch => {
    const { id, deliveries, payloads, commands } = batch;
    const startedMs = performance.now();
    try {
      if (deliveries.length + commands.length === 0) await retries.probe();
      const { duplicates, runsQueued } = await record(deliveries, payloads, retries);
      const results: unknown[] = [];
      for (const command of commands) results.push(await execute(command));
      const commitMs = performance.now() - startedMs;
      const isQueued = runsQueued || commands.some(({ verb }) => commandManners[verb].queuesRuns === true);
      return { kind: 'committed', id, duplicates, results, runsQueued: isQueued, commitMs };
    } catch (error) {
      const { code, message } = toLogFailure(error);
      return { kind: 'failed', id, code, message, error };
    }
  };
}
