import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { UsageError } from '../../exit-status.ts';
import {
  addRunFilterOptions,
  isFiltered,
  type LogFilterOptions,
  toLogFilter,
} from '../../input/log-filter-options.ts';
import { printStatus } from '../../output.ts';
import { renderRuns } from '../../render/render-runs.ts';
import { actInBulk, addBulkOptions, type BulkOptions } from '../../rows/act-in-bulk.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill runs retry`. */
export function declareRunsRetry(parent: Command, openBackend: OpenBackend): Command {
  const command = addCommand(
    parent,
    'retry',
    'queue failed runs again and reset their attempt counts',
    `
Without an ID, all failed runs that the options choose are queued again, oldest first. hookmill counts them and asks:
confirm at the prompt or use --yes. After an interruption it can be repeated: it finds only runs that are still failed.

Examples:
  hookmill runs retry run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs retry --state failed --since 1h --dry-run
  hookmill runs retry --automation triage --since 2026-01-31 --yes`,
  ).argument('[id]', 'ID of the run');
  return addBulkOptions(addRunFilterOptions(command)).action(
    async (id: string | undefined, options: LogFilterOptions & BulkOptions, command: Command) => {
      if ((id === undefined) !== isFiltered(options)) {
        throw new UsageError('name one run by its ID, or choose runs with --state failed or other options');
      }
      if ((options.state ?? 'failed') !== 'failed') throw new UsageError('only failed runs can be retried');
      const { backend, output } = await openBackend(command);
      if (id !== undefined) {
        await backend.retryRun(id);
        return printStatus(`Queued ${id} again.`);
      }
      const chosen = toLogFilter(options);
      const filter = { ...chosen, state: 'failed', untilMs: chosen.untilMs ?? Date.now() } as const;
      await actInBulk(
        {
          readPage: position => backend.listRuns({ ...filter, ...position }),
          render: renderRuns,
          act: id => backend.retryRun(id),
          words: { verb: 'retry', done: 'retried', one: 'run', many: 'runs' },
        },
        options,
        output,
      );
    },
  );
}
