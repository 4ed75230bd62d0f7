import type { Command } from 'commander';
import type { RunState } from '../../../schema/delivery.ts';
import type { OpenBackend } from '../../backend/backend.ts';
import { parseLimit, parseRunState } from '../../input/parse-options.ts';
import { printData } from '../../output.ts';
import { renderRuns } from '../../render/render-runs.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs list`. */
export function declareRunsList(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'list',
    'list runs, newest first',
    `
Examples:
  hookmill runs list --state failed
  hookmill runs list --automation triage -o json`,
  )
    .option('--automation <name>', 'only runs of this automation')
    .option('--state <state>', 'only runs in this state', parseRunState)
    .option('--limit <n>', 'maximum number of runs', parseLimit, 50)
    .action(async (options: ListOptions, command: Command) => {
      const { backend, output } = await openBackend(command);
      const runs = await backend.listRuns(options);
      printData(output, runs, () => (runs.length === 0 ? 'No runs.\n' : renderRuns(runs)));
    });
}

interface ListOptions {
  readonly automation?: string;
  readonly state?: RunState;
  readonly limit: number;
}
