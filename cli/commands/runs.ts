import { join } from 'node:path';
import type { Command } from 'commander';
import { type RunState, runStates } from '../../schema/delivery.ts';
import { listOf } from '../../schema/suggestion.ts';
import type { Run } from '../../store/delivery-log.ts';
import { openDeliveryLog } from '../../store/delivery-log-client.ts';
import { openDeliveryLogReader } from '../../store/delivery-log-reader.ts';
import { contextOf } from '../context.ts';
import { CommandError, exitStatus } from '../exit-status.ts';
import { limitOf } from '../limit-option.ts';
import { printData, printStatus } from '../output.ts';
import { fieldList, table } from '../table.ts';

interface ListOptions {
  readonly automation?: string;
  readonly state?: string;
  readonly limit: string;
}

export async function list(command: Command): Promise<void> {
  const context = await contextOf(command);
  const { automation, state, limit } = command.opts<ListOptions>();
  const filter = { factory: context.factory, automation, state: stateOf(state), limit: limitOf(limit) };
  const log = openDeliveryLogReader(context.home.deliveryLogFile);
  const runs = log.listRuns(filter);
  log.close();
  printData(context, runs.map(runData), () => (runs.length === 0 ? 'No runs.\n' : runsTable(runs)));
}

export async function show(id: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const log = openDeliveryLogReader(context.home.deliveryLogFile);
  const run = log.findRun(id);
  log.close();
  if (!run) throw unknownRun(id);
  const directory = join(context.home.runsDirectory, run.id);
  printData(context, { ...runData(run), directory }, () =>
    fieldList([
      ['id', run.id],
      ['automation', run.automation],
      ['delivery', `${run.deliveryId}${run.replay ? ' (replayed)' : ''}`],
      ['webhook', run.webhook],
      ['state', run.state],
      ['attempts', String(run.attempts)],
      ['created', timeOf(run.createdAtMs)],
      ['started', run.startedAtMs === undefined ? '-' : timeOf(run.startedAtMs)],
      ['finished', run.finishedAtMs === undefined ? '-' : timeOf(run.finishedAtMs)],
      ['next attempt', run.state === 'queued' ? timeOf(run.notBeforeMs) : '-'],
      ['last error', run.error ?? '-'],
      ['directory', directory],
    ]),
  );
}

/** Queues a failed run again, its attempts counted anew. */
export async function retry(id: string, command: Command): Promise<void> {
  const context = await contextOf(command);
  const reader = openDeliveryLogReader(context.home.deliveryLogFile);
  const run = reader.findRun(id);
  reader.close();
  if (!run) throw unknownRun(id);
  const log = await openDeliveryLog(context.home.deliveryLogFile);
  try {
    const queued = await log.retryRun({ id, nowMs: Date.now() });
    if (!queued) throw new CommandError(`the run ${id} is ${run.state}; only a failed run can be retried`);
  } finally {
    await log.close();
  }
  printStatus(`Queued ${id} again.`);
}

export function runData(run: Run) {
  const { id, automation, deliveryId, state, attempts, replay, error } = run;
  const finishedAt = run.finishedAtMs === undefined ? null : timeOf(run.finishedAtMs);
  return {
    id,
    automation,
    deliveryId,
    state,
    attempts,
    replay,
    createdAt: timeOf(run.createdAtMs),
    finishedAt,
    error,
  };
}

export function runsTable(runs: readonly Run[]): string {
  const rows = runs.map(({ id, automation, deliveryId, state, attempts, replay, error }) => {
    return [id, automation, deliveryId + (replay ? ' (replay)' : ''), state, String(attempts), error ?? ''];
  });
  return table(['RUN', 'AUTOMATION', 'DELIVERY', 'STATE', 'ATTEMPTS', ''], rows);
}

function unknownRun(id: string): CommandError {
  return new CommandError(`there is no run ${id} in the log`);
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString();
}

function stateOf(text: string | undefined): RunState | undefined {
  if (text === undefined) return undefined;
  const state = runStates.find(state => state === text);
  if (state) return state;
  throw new CommandError(`there is no run state "${text}"; use ${listOf(runStates)}`, exitStatus.usage);
}
