import type { Readable } from 'node:stream';
import type { RunState } from '../schema/delivery.ts';
import { Refusal } from '../schema/refusal.ts';
import type { Factory, LoggedFactory } from './factory.ts';
import { type NamedFactory, requireKnownAutomation } from './known-names.ts';
import { type Page, readPage } from './page.ts';
import { requireDelivery, requireRun } from './require-logged.ts';
import { type RunView, runView } from './views/delivery-views.ts';

export interface RunsWanted {
  readonly automation?: string | undefined;
  readonly state?: RunState | undefined;
  readonly limit: number;
  /** The id of the last run on the previous page. */
  readonly cursor?: string | undefined;
}

/**
 * Lists the factory's runs, newest first; also those of an automation that no longer exists. Fails with
 * `automation-unknown` or `cursor-unknown`.
 */
export async function listRuns(
  named: NamedFactory,
  { cursor, limit, automation, state }: RunsWanted,
): Promise<Page<RunView>> {
  const {
    name: factory,
    store: { deliveries },
  } = named;
  const page = await readPage({
    limit,
    cursor,
    isKnown: async id => (await deliveries.findRun(id))?.factory === factory,
    read: (limit, before) =>
      deliveries.listRuns({
        factory,
        limit,
        ...(automation !== undefined && { automation }),
        ...(state && { state }),
        ...(before !== undefined && { before }),
      }),
  });
  if (page.rows.length === 0 && automation !== undefined) await requireKnownAutomation(named, automation);
  return { ...page, rows: page.rows.map(runView) };
}

/** Lists the runs of one delivery, oldest first, replays included. Fails with `delivery-unknown`. */
export async function listRunsOfDelivery(factory: Factory, deliveryId: string): Promise<RunView[]> {
  await requireDelivery(factory, deliveryId);
  return (await factory.store.deliveries.listRunsOfDelivery(deliveryId)).map(runView);
}

/** Shows a run. Fails with `run-unknown`. */
export async function showRun(factory: Factory, id: string): Promise<RunView> {
  return runView(await requireRun(factory, id));
}

/** Reads the stored output of a run. Fails with `run-unknown` or `output-not-stored`. */
export async function readRunOutput(
  factory: Factory,
  id: string,
): Promise<{ readonly size: number; readonly stream: Readable }> {
  await requireRun(factory, id);
  const output = await factory.store.runFiles.readOutput(id);
  if (output) return output;
  throw new Refusal('output-not-stored');
}

/** Queues a failed run again and restarts the count of its attempts. Fails with `run-unknown` or `run-not-failed`. */
export async function retryRun(factory: LoggedFactory, id: string): Promise<RunView> {
  const run = await requireRun(factory, id);
  const nowMs = factory.now().getTime();
  if (!(await factory.useDeliveryLog(log => log.retryRun({ id, nowMs })))) {
    throw new Refusal('run-not-failed', {
      detail: `the run ${id} is ${run.state}; only a failed run can be retried`,
    });
  }
  return showRun(factory, id);
}
