import type { Command } from 'commander';
import type { Outcome } from '../../../schema/delivery.ts';
import type { OpenBackend } from '../../backend/backend.ts';
import { parseLimit, parseOutcome } from '../../input/parse-options.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill deliveries list`. */
export function declareDeliveriesList(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'list',
    'list deliveries, newest first',
    `
Examples:
  hookmill deliveries list --webhook deploys
  hookmill deliveries list --outcome 'Rejected (auth)' --limit 10`,
  )
    .option('--webhook <name>', 'only deliveries of this webhook (name or UID)')
    .option('--outcome <label>', 'only deliveries with this outcome', parseOutcome)
    .option('--limit <n>', 'maximum number of deliveries', parseLimit, 50)
    .action(async (options: ListOptions, command: Command) => {
      const { backend, output } = await openBackend(command);
      const deliveries = await backend.listDeliveries(options);
      printData(output, deliveries, () => {
        if (deliveries.length === 0) return 'No deliveries.\n';
        const rows = deliveries.map(({ id, webhook, at, size, outcome, reason, duplicateOf }) => {
          const note = reason ?? (duplicateOf ? `of ${duplicateOf}` : '');
          return [id, webhook, at, String(size), outcome, note];
        });
        return renderTable(['ID', 'WEBHOOK', 'TIME', 'SIZE', 'OUTCOME', ''], rows);
      });
    });
}

interface ListOptions {
  readonly webhook?: string;
  readonly outcome?: Outcome;
  readonly limit: number;
}
