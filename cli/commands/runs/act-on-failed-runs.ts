import type { Command } from 'commander';
import type { Backend, OpenBackend } from '../../backend/backend.ts';
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

interface FailedRunsAction {
  readonly act: (backend: Backend, id: string) => Promise<unknown>;
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
  const { act, verb, done, report } = action;
  command.argument('[id]', 'ID of the run');
  return addBulkOptions(addRunFilterOptions(command)).action(
    async (id: string | undefined, options: LogFilterOptions & BulkOptions, command: Command) => {
      if ((id === undefined) !== isFiltered(options)) {
        throw new UsageError('name one run by its ID, or choose runs with --state failed or other options');
      }
      if ((options.state ?? 'failed') !== 'failed') throw new UsageError(`only failed runs can be ${done}`);
      const { backend, output } = await openBackend(command);
      if (id !== undefined) {
        await act(backend, id);
        return printStatus(report(id));
      }
      const chosen = toLogFilter(options);
      const filter = { ...chosen, state: 'failed', untilMs: chosen.untilMs ?? Date.now() } as const;
      await actInBulk(
        {
          readPage: async position => {
            const page = await backend.listRuns({ ...filter, ...position });
            return { ...page, rows: page.rows.filter(({ dismissed }) => !dismissed) };
          },
          render: renderRuns,
          act: id => act(backend, id),
          words: { verb, done, one: 'run', many: 'runs' },
        },
        options,
        output,
      );
    },
  );
}
