import type { Readable } from 'node:stream';
import { Refusal } from '../../schema/refusal.ts';
import type { Factory, LoggedFactory, QueueableRuns } from '../factory.ts';
import { type RunView, runDetail, runView } from '../views/delivery-views.ts';
import { type ListPosition, type LogFilter, listRows, type NamedFactory, type Page } from './list-rows.ts';
import { requireDelivery, requireRun } from './require-logged.ts';

/**
 * Lists the factory's runs in the order in which they were recorded; also runs of an automation that no longer exists.
 * Fails with `webhook-unknown`, `automation-unknown` or `cursor-unknown`.
 */
export async function listRuns(
  named: NamedFactory,
  wanted: Omit<LogFilter, 'outcome'> & ListPosition,
): Promise<Page<RunView>> {
  const { deliveries } = named.store;
  return listRows(named, wanted, {
    kind: 'runs',
    find: id => deliveries.findRun(id),
    search: part => deliveries.searchRuns(part),
    view: runView,
  });
}

/** Lists the runs of one delivery, oldest first, replays included. Fails with `delivery-unknown`. */
export async function listRunsOfDelivery(factory: Factory, deliveryId: string): Promise<RunView[]> {
  await requireDelivery(factory, deliveryId);
  return (await factory.store.deliveries.listRunsOfDelivery(deliveryId)).map(runView);
}

/** Shows a run. Fails with `run-unknown`. */
export async function showRun(factory: Factory, id: string): Promise<RunView> {
  const run = await requireRun(factory, id);
  const { deliveries, runFiles } = factory.store;
  const gathered = run.deliveryCount === undefined ? [] : await deliveries.listRunDeliveries(id);
  return runDetail(run, gathered, await runFiles.listArtifacts(id));
}

/** Reads an artifact of a run. Fails with `run-unknown` or `artifact-unknown`. */
export async function readArtifact(
  factory: Factory,
  id: string,
  name: string,
): Promise<{ readonly size: number; readonly stream: Readable }> {
  await requireRun(factory, id);
  const artifact = await factory.store.runFiles.readArtifact(id, name);
  if (artifact) return artifact;
  throw new Refusal('artifact-unknown');
}

/** Reads the stored output of a run, from a byte on. Fails with `run-unknown` or `output-not-stored`. */
export async function readRunOutput(
  factory: Factory,
  id: string,
  from = 0,
): Promise<{ readonly size: number; readonly stream: Readable }> {
  await requireRun(factory, id);
  const output = await factory.store.runFiles.readOutput(id, from);
  if (output) return output;
  throw new Refusal('output-not-stored');
}

/** Queues a failed run again and restarts the count of its attempts. Fails with `run-unknown` or `run-not-failed`. */
export async function retryRun(factory: LoggedFactory, id: string): Promise<RunView> {
  const nowMs = factory.now().getTime();
  return actOnFailed(factory, id, 'retried', log => log.retryRun({ id, nowMs }));
}

/** Gives up a failed run, so that it holds no others. Fails with `run-unknown` or `run-not-failed`. */
export async function dismissRun(factory: LoggedFactory, id: string): Promise<RunView> {
  return actOnFailed(factory, id, 'dismissed', log => log.dismissRun(id));
}

async function actOnFailed(
  factory: LoggedFactory,
  id: string,
  done: string,
  act: (log: QueueableRuns) => Promise<boolean>,
): Promise<RunView> {
  const run = await requireRun(factory, id);
  if (await factory.useDeliveryLog(act)) return showRun(factory, id);
  throw new Refusal('run-not-failed', {
    detail: `the run ${id} ${run.state === 'succeeded' ? 'has' : 'is'} ${run.state}; only failed runs can be ${done}`,
  });
}
