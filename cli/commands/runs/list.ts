import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { addRunFilterOptions, type LogFilterOptions, toLogFilter } from '../../input/log-filter-options.ts';
import { parseLimit } from '../../input/parse-options.ts';
import { printData, printJsonLine, printText } from '../../output.ts';
import { openRunTable, renderRuns } from '../../render/render-runs.ts';
import { followRuns } from '../../rows/follow-runs.ts';
import { readRows, readRuns } from '../../rows/read-rows.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs list`. */
export function declareRunsList(parent: Command, openBackend: OpenBackend): Command {
  return addRunFilterOptions(
    addCommand(
      parent,
      'list',
      'list runs, newest first',
      `
With --follow, the newest runs are printed oldest first, and then each one as it is recorded, and again when it has
ended, until Ctrl-C. With -o json, each is one line.

Examples:
  hookmill runs list --state failed --since 1h
  hookmill runs list --automation triage -o json --follow`,
    ),
  )
    .option('--limit <n>', 'maximum number of runs', parseLimit, 50)
    .option('-f, --follow', 'also print runs as they are recorded, and as they end')
    .action(async ({ limit, follow, ...options }: ListOptions, command: Command) => {
      const { backend, output } = await openBackend(command);
      const filter = toLogFilter(options);
      const readPage = readRuns(backend, filter);
      if (follow) {
        const table = openRunTable();
        await followRuns(backend, filter, limit, rows => {
          if (output === 'json') for (const row of rows) printJsonLine(row);
          else printText(table(rows));
        });
        return;
      }
      const runs = await readRows(readPage, limit);
      printData(output, runs, () => (runs.length === 0 ? 'No runs.\n' : renderRuns(runs)));
    });
}

interface ListOptions extends LogFilterOptions {
  readonly limit: number;
  readonly follow?: true;
}
