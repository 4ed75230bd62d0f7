import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill deliveries replay`. */
export function declareDeliveriesReplay(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'replay',
    'start new runs from a stored payload',
    `
Tests the payload with the automations that are applied now. The new runs are marked as replays; no new delivery is
recorded.

Examples:
  hookmill deliveries replay dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill deliveries replay dlv_01jd3m8z9qk5v7w2x4y6abcdef --automation triage`,
  )
    .argument('<id>', 'ID of the delivery')
    .option('--automation <name>', 'only this automation')
    .action(async (id: string, { automation }: { automation?: string }, command: Command) => {
      const { backend, output } = await openBackend(command);
      const runs = await backend.replayDelivery(id, automation);
      const rows = runs.map(run => [run.id, run.automation]);
      printData(output, runs, () => renderTable(['RUN', 'AUTOMATION'], rows));
    });
}
