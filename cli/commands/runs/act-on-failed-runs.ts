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
import { readRuns } from '../../rows/read-rows.ts';

interface FailedRunsAction {
  readonly operation: 'retryRun' | 'dismissRun';
  readonly verb: string;
  readonly done: string;
  /** Tells the user that the run was acted on. */
  readonly report: (id: string) => string;
}

/** Makes a command act on one failed run, or on all that its options choose, apart from dismissed ones. */
export function actOnFailedRuns(
  command: Command,
  openBackend: OpenBackend,
  action: FailedRunsAction,
): Command {
  const { operation, verb, done, report } = action;
  command.argument('[id]', 'ID of the run');
  return addBulkOptions(addRunFilterOptions(command)).action(
    async (id: string | undefined, options: LogFilterOptions & BulkOptions, command: Command) => {
      if ((id === undefined) !== isFiltered(options)) {
        throw new UsageError('name one run by its ID, or choose runs with --state failed or other options');
      }
      if ((options.state ?? 'failed') !== 'failed') throw new UsageError(`only failed runs can be ${done}`);
      const { backend, output } = await openBackend(command);
      const act = (run: string) => backend.call(operation, { params: { run }, body: {} });
      if (id !== undefined) {
        await act(id);
        return printStatus(report(id));
      }
      const chosen = toLogFilter(options);
      const filter = { ...chosen, state: 'failed', untilMs: chosen.untilMs ?? Date.now() } as const;
      const readPage = readRuns(backend, filter);
      await actInBulk(
        {
          readPage: async position => {
            const page = await readPage(position);
            return { ...page, rows: page.rows.filter(({ dismissed }) => !dismissed) };
          },
          render: renderRuns,
          act,
          words: { verb, done, one: 'run', many: 'runs' },
        },
        options,
        output,
      );
    },
  );
}
