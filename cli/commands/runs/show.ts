import type { Command } from 'commander';
import { retryRun } from '../../../operations/runs.ts';
import type { RunView } from '../../../operations/views/delivery-views.ts';
import { type RunState, runStates } from '../../../schema/delivery.ts';
import { listOf } from '../../../schema/suggestion.ts';
import { backendOf } from '../../backend/backend.ts';
import { contextOf, openFactory } from '../../context.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { limitOf } from '../../input/limit-option.ts';
import { printData, printStatus } from '../../output.ts';
import { fieldList, table } from '../../render/table.ts';

interface ListOptions {
  readonly automation?: string;
  readonly state?: string;
  readonly limit: string;
}

export async function list(command: Command): Promise<void> {
  const { backend, output } = await backendOf(command);
  const { automation, state, limit } = command.opts<ListOptions>();
  const runs = await backend.runs({ automation, state: stateOf(state), limit: limitOf(limit) });
  printData({ output }, runs, () => (runs.length === 0 ? 'No runs.\n' : runsTable(runs)));
}

export async function show(id: string, command: Command): Promise<void> {
  const { backend, output } = await backendOf(command);
  const run = await backend.run(id);
  const directory = backend.runDirectory(run.id);
  printData({ output }, { ...run, directory }, () =>
    fieldList([
      ['id', run.id],
      ['automation', run.automation],
      ['delivery', `${run.deliveryId}${run.replay ? ' (replayed)' : ''}`],
      ['webhook', run.webhook],
      ['state', run.state],
      ['attempts', String(run.attempts)],
      ['created', run.createdAt],
      ['started', run.startedAt ?? '-'],
      ['finished', run.finishedAt ?? '-'],
      ['next attempt', run.nextAttemptAt ?? '-'],
      ['last error', run.error ?? '-'],
      ['directory', directory ?? '-'],
    ]),
  );
}

/** Queues a failed run again, its attempts counted from the start. */
export async function retry(id: string, command: Command): Promise<void> {
  await retryRun(openFactory(await contextOf(command)), id);
  printStatus(`Queued ${id} again.`);
}

export function runsTable(runs: readonly RunView[]): string {
  const rows = runs.map(({ id, automation, deliveryId, state, attempts, replay, error }) => {
    return [id, automation, deliveryId + (replay ? ' (replay)' : ''), state, String(attempts), error ?? ''];
  });
  return table(['RUN', 'AUTOMATION', 'DELIVERY', 'STATE', 'ATTEMPTS', ''], rows);
}

function stateOf(text: string | undefined): RunState | undefined {
  if (text === undefined) return undefined;
  const state = runStates.find(state => state === text);
  if (state) return state;
  throw new CommandError(`there is no run state "${text}"; use ${listOf(runStates)}`, exitStatus.usage);
}
