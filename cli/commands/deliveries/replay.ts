import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { UsageError } from '../../exit-status.ts';
import {
  addDeliveryFilterOptions,
  isFiltered,
  type LogFilterOptions,
  toLogFilter,
} from '../../input/log-filter-options.ts';
import { printData } from '../../output.ts';
import { openDeliveryTable } from '../../render/render-deliveries.ts';
import { renderTable } from '../../render/render-table.ts';
import { actInBulk, addBulkOptions, type BulkOptions } from '../../rows/act-in-bulk.ts';
import { readDeliveries } from '../../rows/read-rows.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill deliveries replay`. */
export function declareDeliveriesReplay(parent: Command, openBackend: OpenBackend): Command {
  const command = addCommand(
    parent,
    'replay',
    'start new runs from stored payloads',
    `
Tests the payload with the automations that are applied now. The new runs are marked as replays; no new delivery is
recorded.

Without an ID, all accepted deliveries that the options choose are replayed, oldest first. hookmill counts them and asks:
confirm at the prompt or use --yes. After an interruption it says how to go on.

Examples:
  hookmill deliveries replay dlv_01jd3m8z9qk5v7w2x4y6abcdef --automation triage
  hookmill deliveries replay --webhook deploys --since 2h --dry-run
  hookmill deliveries replay --event push --since 2026-01-31 --rate 2 --yes`,
  )
    .argument('[id]', 'ID of the delivery')
    .option('--automation <name>', 'only start runs of this automation');
  return addBulkOptions(addDeliveryFilterOptions(command)).action(
    async (id: string | undefined, { automation, ...options }: ReplayOptions, command: Command) => {
      if ((id === undefined) !== isFiltered(options)) {
        throw new UsageError(
          'name one delivery by its ID, or choose deliveries with --since or other options',
        );
      }
      if ((options.outcome ?? 'Accepted') !== 'Accepted') {
        throw new UsageError(
          'only deliveries with the outcome Accepted can be replayed: others have no payload',
        );
      }
      const { backend, output } = await openBackend(command);
      const replay = (id: string) =>
        backend.call('replayDelivery', { params: { delivery: id }, body: { automation } });
      if (id !== undefined) {
        const { runs } = await replay(id);
        const rows = runs.map(run => [run.id, run.automation]);
        return printData(output, runs, () => renderTable(['RUN', 'AUTOMATION'], rows));
      }
      // Deliveries that arrive from now on are left out: otherwise this might never end.
      const chosen = toLogFilter(options);
      const filter = { ...chosen, outcome: 'Accepted', untilMs: chosen.untilMs ?? Date.now() } as const;
      await actInBulk(
        {
          readPage: readDeliveries(backend, filter),
          render: openDeliveryTable(),
          act: async id => ({ delivery: id, ...(await replay(id)) }),
          words: { verb: 'replay', done: 'replayed', one: 'delivery', many: 'deliveries' },
        },
        options,
        output,
      );
    },
  );
}

interface ReplayOptions extends LogFilterOptions, BulkOptions {}
