import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import {
  addDeliveryFilterOptions,
  type LogFilterOptions,
  toLogFilter,
} from '../../input/log-filter-options.ts';
import { parseLimit, parseRunState } from '../../input/parse-options.ts';
import { printData, printJsonLine, printText } from '../../output.ts';
import { openDeliveryTable } from '../../render/render-deliveries.ts';
import { renderUnlogged } from '../../render/render-unlogged.ts';
import { followRows } from '../../rows/follow-rows.ts';
import { readDeliveries, readRows } from '../../rows/read-rows.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill deliveries list`. */
export function declareDeliveriesList(parent: Command, openBackend: OpenBackend): Command {
  return addDeliveryFilterOptions(
    addCommand(
      parent,
      'list',
      'list deliveries, newest first',
      `
With --follow, the newest deliveries are printed oldest first, and then each one as it is recorded, until Ctrl-C. With
-o json, each is one line. It survives a restart of the server, and leaves none out.

Examples:
  hookmill deliveries list --webhook deploys --since 2h
  hookmill deliveries list --search order-4711 --since 7d
  hookmill deliveries list --outcome 'Rejected (auth)' --limit 10 --follow`,
    ),
  )
    .option('--automation <name>', 'only deliveries with a run of this automation')
    .option('--state <state>', 'only deliveries with a run in this state', parseRunState)
    .option('--limit <n>', 'maximum number of deliveries', parseLimit, 50)
    .option('-f, --follow', 'also print deliveries as they are recorded')
    .action(async ({ limit, follow, ...options }: ListOptions, command: Command) => {
      const { backend, output } = await openBackend(command);
      const filter = toLogFilter(options);
      const readPage = readDeliveries(backend, filter);
      const table = openDeliveryTable();
      if (follow) {
        await followRows(readPage, limit, rows => {
          if (output === 'json') for (const row of rows) printJsonLine(row);
          else printText(table(rows));
        });
        return;
      }
      const deliveries = await readRows(readPage, limit);
      const refused =
        output === 'json'
          ? ''
          : renderUnlogged(
              (await backend.call('listUnlogged', { query: { webhook: options.webhook } })).requests,
            );
      const renderRows = () => (deliveries.length === 0 ? 'No deliveries.\n' : table(deliveries));
      printData(output, deliveries, () => renderRows() + refused);
    });
}

interface ListOptions extends LogFilterOptions {
  readonly limit: number;
  readonly follow?: true;
}
