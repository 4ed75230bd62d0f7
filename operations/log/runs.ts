import type { Readable } from 'node:stream';
import { parseRecorded } from '../../schema/automations-snapshot.ts';
import { hasEnded } from '../../schema/delivery.ts';
import type { Permission } from '../../schema/grant.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { DeliveryLogReader, RunCancel } from '../../store/ports/delivery-log.ts';
import { requireAutomation } from '../applied/require-applied.ts';
import type { Factory, LoggedFactory, OpenFactory, QueueableRuns } from '../factory.ts';
import { type PauseView, pauseView, type RunView, runDetail } from '../views/delivery-views.ts';
import { type ListPosition, type LogFilter, listRows, type NamedFactory, type Page } from './list-rows.ts';
import { requireDelivery, requireRun } from './require-logged.ts';
import { readRunLimits, viewRuns } from './run-limits.ts';
import { readTitles } from './titles.ts';

/**
 * Lists the factory's runs in the order in which they were recorded; also runs of an automation that no longer exists. Adds
 * the titles of their deliveries only if they are wanted.
 * Fails with `webhook-unknown`, `automation-unknown` or `cursor-unknown`.
 */
export async function listRuns(
  named: NamedFactory,
  wanted: Omit<LogFilter, 'outcome'> & ListPosition & { readonly summary?: 'true' | undefined },
  permission: Permission,
): Promise<Page<RunView>> {
  const { deliveries } = named.store;
  const page = await listRows(named, wanted, {
    kind: 'runs',
    find: id => deliveries.findRun(id),
    search: part => deliveries.searchRuns(part),
    view: run => run,
  });
  const rows = await viewRuns(named, page.rows);
  return wanted.summary
    ? { ...page, rows: await addTitles(rows, deliveries, permission) }
    : { ...page, rows };
}

/** Adds the title of the delivery that each run is for. */
async function addTitles(
  rows: readonly RunView[],
  deliveries: Pick<DeliveryLogReader, 'summarizeDeliveries'>,
  permission: Permission,
): Promise<RunView[]> {
  const ids = rows.map(({ deliveryId }) => deliveryId);
  const titled = await readTitles(deliveries, ids, permission);
  return rows.map(row => {
    const summary = titled.get(row.deliveryId)?.title;
    return summary ? { ...row, summary } : row;
  });
}

/** Lists the runs of one delivery, oldest first, replays included. Fails with `delivery-unknown`. */
export async function listRunsOfDelivery(
  factory: Factory,
  { delivery, summary }: { readonly delivery: string; readonly summary?: 'true' | undefined },
  permission: Permission,
): Promise<RunView[]> {
  await requireDelivery(factory, delivery);
  const { deliveries } = factory.store;
  const rows = await viewRuns(factory, await deliveries.listRunsOfDelivery(delivery));
  return summary ? addTitles(rows, deliveries, permission) : rows;
}

/** Shows a run. Fails with `run-unknown`. */
export async function showRun(factory: Factory, id: string): Promise<RunView> {
  const run = await requireRun(factory, id);
  const { deliveries, runFiles } = factory.store;
  const gathered = run.deliveryCount === undefined ? [] : await deliveries.listRunDeliveries(id);
  const snapshot = run.snapshot === undefined ? undefined : await deliveries.readSnapshot(run.snapshot);
  const recorded = snapshot === undefined ? undefined : parseRecorded(snapshot).get(run.automation);
  const limits = recorded && (await readRunLimits(factory, run, recorded));
  return runDetail(run, {
    gathered,
    artifacts: await runFiles.listArtifacts(id),
    prompt: recorded?.prompt,
    limits,
  });
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

/** Cancels a run that has not ended. Fails with `run-unknown` or `run-ended`. */
export async function cancelRun(
  factory: LoggedFactory,
  id: string,
  { by, reason }: Pick<RunCancel, 'by' | 'reason'>,
): Promise<RunView> {
  const run = await requireRun(factory, id);
  const refuse = ({ state }: Pick<RunView, 'state'>) =>
    new Refusal('run-ended', {
      detail: `the run ${id} ${describeEnd(state)}; only a run that has not ended can be cancelled`,
    });
  if (hasEnded(run.state)) throw refuse(run);
  const cancel = { by, atMs: factory.now().getTime(), ...(reason !== undefined && { reason }) };
  const cancelled = await factory.useDeliveryLog(log => log.cancelRun({ id, cancel }));
  const shown = await showRun(factory, id);
  if (cancelled === 'ended') throw refuse(shown);
  return shown;
}

/** Approves what a run has left, so that its second command starts. Fails with `run-unknown` or `run-not-held`. */
export async function approveRun(factory: LoggedFactory, id: string, by: string): Promise<RunView> {
  await requireRun(factory, id);
  const approval = { by, atMs: factory.now().getTime() };
  const isApproved = await factory.useDeliveryLog(log => log.approveRun({ id, approval }));
  const shown = await showRun(factory, id);
  if (isApproved) return shown;
  const known = shown.afterwards?.approval;
  const detail = known
    ? `${known.by} has approved the run ${id} at ${known.at}`
    : `the run ${id} ${hasEnded(shown.state) ? describeEnd(shown.state) : `is ${shown.state}, and waits for no approval`}`;
  throw new Refusal('run-not-held', { detail });
}

/** Pauses an applied automation, for a time or until it is resumed. Fails with `automation-unknown`. */
export async function pauseAutomation(
  factory: OpenFactory,
  {
    automation,
    seconds,
    by,
  }: { readonly automation: string; readonly seconds: number | undefined; readonly by: string },
): Promise<PauseView> {
  requireAutomation(await factory.readState(), automation);
  const atMs = factory.now().getTime();
  const until = seconds === undefined ? {} : { untilMs: atMs + seconds * 1_000 };
  const pause = { factory: factory.name, automation, by, atMs, ...until };
  await factory.useDeliveryLog(log => log.pauseAutomation(pause));
  const pauses = await listPauses(factory);
  return pauses.find(shown => shown.automation === automation) ?? pauseView(pause);
}

/** Ends the pause of an automation. Fails with `automation-not-paused`. */
export async function resumeAutomation(factory: LoggedFactory, automation: string): Promise<void> {
  const of = { factory: factory.name, automation, nowMs: factory.now().getTime() };
  if (await factory.useDeliveryLog(log => log.resumeAutomation(of))) return;
  throw new Refusal('automation-not-paused', { detail: `the automation ${automation} is not paused` });
}

/** Lists the paused automations of the factory; those that were paused first come first. */
export async function listPauses({ name, store, now }: Factory): Promise<PauseView[]> {
  return (await store.deliveries.listPauses({ factory: name, nowMs: now().getTime() })).map(pauseView);
}

/** Says how a run has ended. */
export function describeEnd(state: RunView['state']): string {
  return state === 'cancelled' ? 'was cancelled' : `${state === 'succeeded' ? 'has' : 'is'} ${state}`;
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
    detail: `the run ${id} ${describeEnd(run.state)}; only failed runs can be ${done}`,
  });
}
