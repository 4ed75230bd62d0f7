import { type EventRecord, toEvent } from '../../../delivery-log/stored-rows.ts';
import {
  type Batch,
  type Command,
  type Committed,
  commandManners,
  type Failed,
  type FailedBatch,
  type Verb,
  type VerbTable,
} from '../../../delivery-log/thread/wire.ts';
import type { SqliteDatabase } from '../../../home/sqlite.ts';
import type { RunDelivery } from '../../../ports/delivery-log.ts';
import { prepareLanes } from '../sql/lanes.ts';
import { toLogError } from '../sql/log-failure.ts';
import { rewriteSchemaVersion } from '../sql/migrations.ts';
import { preparePruneStep } from '../sql/prune.ts';
import { prepareRecordDeliveries } from '../sql/record.ts';
import { selectEvent, selectRunDeliveries } from '../sql/rows.ts';
import { prepareChangeRun, prepareSupersede } from '../sql/run-changes.ts';
import { prepareRunVerbs } from '../sql/runs.ts';
import { openSeries } from '../sql/series.ts';
import { openSnapshots } from '../sql/snapshots.ts';
import { prepareTallyVerbs } from '../sql/tallies.ts';
import { prepareRecordUnlogged } from '../sql/unlogged.ts';

/**
 * Prepares to commit each batch in one transaction: all of it is on disk when that returns, or none of it. `file` names the
 * database in messages. `requireInPlace` throws if what was committed is not kept.
 */
export function prepareCommit(
  database: SqliteDatabase,
  file: string,
  requireInPlace: () => void,
): (batch: Batch) => Committed | FailedBatch {
  const snapshots = openSnapshots(database);
  const series = openSeries(database);
  const lanes = prepareLanes(database);
  const change = prepareChangeRun(database, lanes);
  const supersede = prepareSupersede(database, change);
  const record = prepareRecordDeliveries(database, { snapshots, series, supersede });
  const event = database.prepare<[string], EventRecord>(selectEvent);
  const runDeliveries = database.prepare<{ id: string }, RunDelivery>(selectRunDeliveries);
  const verbs: VerbTable = {
    ...prepareRunVerbs(database, { snapshots, series, lanes, change, supersede }),
    recordUnlogged: prepareRecordUnlogged(database),
    ...prepareTallyVerbs(database),
    pruneStep: preparePruneStep(database, snapshots),
    readEvent: deliveryId => toEvent(event.get(deliveryId)),
    readSnapshot: digest => snapshots.read(digest),
    listRunDeliveries: id => runDeliveries.all({ id }),
  };
  const execute = <V extends Verb>(command: Command<V>) => verbs[command.verb](command.argument);
  const write = (batch: Batch): Omit<Committed, 'id' | 'commitMs'> => {
    if (batch.deliveries.length + batch.commands.length === 0) rewriteSchemaVersion(database);
    const { duplicates, runsQueued } = record(batch.deliveries, batch.payloads);
    const results = batch.commands.map(execute);
    return {
      kind: 'committed',
      duplicates,
      results,
      runsQueued: runsQueued || batch.commands.some(({ verb }) => commandManners[verb].queuesRuns === true),
    };
  };

  return batch => {
    const startedMs = performance.now();
    try {
      const committed = database.transact(() => write(batch));
      requireInPlace();
      return { ...committed, id: batch.id, commitMs: performance.now() - startedMs };
    } catch (error) {
      // Later batches refer to the texts that were sent with this one.
      for (const { factory, appliedState } of batch.deliveries)
        if (appliedState) snapshots.learn(factory, appliedState);
      snapshots.forgetRows();
      series.forgetRows();
      return { ...toFailed('failed', file, error), id: batch.id };
    }
  };
}

/** Says why the log could not be opened, or a batch not be committed. */
export function toFailed<Kind extends string>(kind: Kind, file: string, error: unknown): Failed<Kind> {
  const { code, message } = toLogError(file, error);
  return { kind, code, message, error };
}
