import { setTimeout as wait } from 'node:timers/promises';
import type { RunView } from '../../operations/views/delivery-views.ts';
import { hasEnded } from '../../schema/delivery.ts';
import { Refusal } from '../../schema/refusal.ts';
import type { Backend } from '../backend/backend.ts';
import { openBackend } from '../backend/open-backend.ts';
import { CommandError, UsageError } from '../exit-status.ts';
import {
  addRunFilterOptions,
  isFiltered,
  type LogFilterOptions,
  parseLimit,
  toLogFilter,
} from '../input/options.ts';
import { readInputFile } from '../input/read-input.ts';
import { isOutputOpen, printData, printExactly, printJsonLine, printStatus, printText } from '../output.ts';
import { openRunTable, renderRun, renderRuns } from '../render/render-run.ts';
import { renderTable } from '../render/render-table.ts';
import { actInBulk, addBulkOptions, type BulkOptions } from '../rows/act-in-bulk.ts';
import { followMs, followRuns, persist } from '../rows/follow-rows.ts';
import { readEach, readRows, readRuns } from '../rows/read-rows.ts';
import type { CliCommand } from './cli-command.ts';

interface FailedRunsAction {
  readonly operation: 'retryRun' | 'dismissRun';
  readonly verb: string;
  readonly done: string;
  /** Tells the user that the run was acted on. */
  readonly report: (id: string) => string;
}

interface ListOptions extends LogFilterOptions {
  readonly limit: number;
  readonly follow?: true;
}

/** Declares `hookmill runs`. */
export function declareRuns(command: CliCommand): void {
  command
    .explain(`list, show, follow, approve, cancel, retry and dismiss runs, and do their work again

Examples:
  hookmill runs list --state failed
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef`)
    .subcommands({ list, show, logs, artifacts, approve, cancel, retry, dismiss, again });
}

function list(command: CliCommand): void {
  addRunFilterOptions(
    command.explain(`list runs, newest first

With --follow, the newest runs are printed oldest first, and then each one as it is recorded, and again when it has
ended, until Ctrl-C. With -o json, each is one line.

Examples:
  hookmill runs list --state failed --since 1h
  hookmill runs list --automation triage -o json --follow`),
  )
    .option('--limit <n>', 'maximum number of runs', parseLimit, 50)
    .option('-f, --follow', 'also print runs as they are recorded, and as they end')
    .action(async ({ limit, follow, ...options }: ListOptions, command: CliCommand) => {
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

function show(command: CliCommand): void {
  command
    .explain(`show one run

Examples:
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef --log
  hookmill runs show run_01jd3m8z9qk5v7w2x4y6abcdef --prompt > prompt.md`)
    .argument('<id>', 'ID of the run')
    .option('--log', 'print only the output of its attempts, byte for byte')
    .option(
      '--prompt',
      'print only the prompt with which it was recorded, byte for byte, without the envelope',
    )
    .action(async (id: string, options: { log?: true; prompt?: true }, command: CliCommand) => {
      if (options.log && options.prompt) throw new UsageError('--log cannot be combined with --prompt');
      const { backend, output } = await openBackend(command);
      if (options.log) {
        printExactly(await backend.call('showRunOutput', { params: { run: id } }));
        return;
      }
      const run = await backend.call('showRun', { params: { run: id } });
      if (options.prompt) return printExactly(requirePrompt(run));
      const files = backend.findRunFiles(run.id);
      printData(output, { ...run, ...files }, () => renderRun(run, files));
    });
}

function requirePrompt({ id, prompt }: RunView): Uint8Array {
  if (prompt !== undefined) return Buffer.from(prompt);
  throw new CommandError(`The prompt of the run ${id} is no longer stored.`);
}

function logs(command: CliCommand): void {
  command
    .explain(`print the output of a run

Prints the output of all attempts, byte for byte. With --follow, it goes on until the run has ended. With
a store in PostgreSQL, the output of an attempt appears when the attempt ends.

Examples:
  hookmill runs logs run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs logs run_01jd3m8z9qk5v7w2x4y6abcdef --follow`)
    .argument('<id>', 'ID of the run')
    .option('-f, --follow', 'also print output as it is written, until the run has ended')
    .action(async (id: string, { follow = false }: { follow?: boolean }, command: CliCommand) => {
      const { backend } = await openBackend(command);
      if (follow) await followOutput(backend, id);
      else printExactly(await readOutput(backend, id));
    });
}

function readOutput(backend: Pick<Backend, 'call'>, id: string, from = 0): Promise<Uint8Array> {
  return backend.call('showRunOutput', { params: { run: id }, query: { from: String(from) } });
}

async function followOutput(backend: Pick<Backend, 'call'>, id: string): Promise<void> {
  let printed = 0;
  const look = async () => {
    // The state comes first: the output of a run that has ended is complete.
    const run = await backend.call('showRun', { params: { run: id } });
    const output = await readOutput(backend, id, printed).catch(ignoreMissing);
    if (output.length > 0) printExactly(output);
    printed += output.length;
    return run;
  };
  for (let run = await look(); isOutputOpen(); run = await persist(look)) {
    if (hasEnded(run.state))
      return printStatus(`The run ${run.state === 'cancelled' ? 'was' : 'has'} ${run.state}.`);
    await wait(followMs);
  }
}

/** A run that has not begun has no output yet. */
function ignoreMissing(error: unknown): Uint8Array {
  if (error instanceof Refusal && error.code === 'output-not-stored') return new Uint8Array();
  throw error;
}

function artifacts(command: CliCommand): void {
  command
    .explain(`list the files that a run left, or print one

With a name, prints that file to standard output, byte for byte. The files are on the machine that executed the run.

Examples:
  hookmill runs artifacts run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs artifacts run_01jd3m8z9qk5v7w2x4y6abcdef report.md > report.md`)
    .argument('<id>', 'ID of the run')
    .argument('[name]', 'name of the file to print')
    .action(async (id: string, name: string | undefined, _: object, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      if (name !== undefined)
        return printExactly(await backend.call('downloadArtifact', { params: { run: id, artifact: name } }));
      const { artifacts = [] } = await backend.call('showRun', { params: { run: id } });
      printData(output, { artifacts }, () =>
        renderTable(
          ['NAME', 'BYTES'],
          artifacts.map(({ name, size }) => [name, String(size)]),
        ),
      );
    });
}

interface CancelOptions extends LogFilterOptions, BulkOptions {
  readonly reason?: string;
}

function cancel(command: CliCommand): void {
  command.explain(`cancel runs that have not ended

A queued run never starts. The command of a running one gets SIGTERM, with all its processes, and SIGKILL ten seconds
later. The receiver of an HTTP runner is told if the settings have callback.cancelUrl, and its later reports are refused.
A cancelled run holds no others, and is not retried. Without an ID, all runs that the options choose and that have not ended
are cancelled, oldest first: confirm at the prompt or use --yes.

Examples:
  hookmill runs cancel run_01jd3m8z9qk5v7w2x4y6abcdef --reason 'wrong branch'
  hookmill runs cancel --automation triage --state queued --dry-run`);
  command
    .argument('[id...]', 'IDs of the runs')
    .option('--reason <text>', 'why, for those who look at the runs later');
  addBulkOptions(addRunFilterOptions(command)).action(
    async (ids: readonly string[], { reason, ...options }: CancelOptions, command: CliCommand) => {
      requireChoice(ids.length > 0, options);
      const { backend, output } = await openBackend(command);
      const act = (run: string) => backend.call('cancelRun', { params: { run }, body: { reason } });
      for (const id of ids) {
        const { state } = await act(id);
        printStatus(state === 'cancelled' ? `Cancelled ${id}.` : `${id} is being cancelled.`);
      }
      if (ids.length > 0) return;
      const chosen = toLogFilter(options);
      const filter = { ...chosen, untilMs: chosen.untilMs ?? Date.now() };
      const states = options.state ? [options.state] : unended;
      if (!states.every(state => (unended as readonly string[]).includes(state)))
        throw new UsageError('only queued and running runs can be cancelled');
      await actInBulk(
        {
          readPage: readEach(states.map(state => readRuns(backend, { ...filter, state }))),
          render: renderRuns,
          act,
          words: { verb: 'cancel', done: 'cancelled', one: 'run', many: 'runs' },
        },
        options,
        output,
      );
    },
  );
}

function approve(command: CliCommand): void {
  command
    .explain(`approve what a run has left, so that its second command acts on it

Look at the artifacts first: \`hookmill runs artifacts\` lists and prints them. To decline, cancel the run.

Examples:
  hookmill runs approve run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill --server https://hookmill.example.com runs approve run_01jd3m8z9qk5v7w2x4y6abcdef`)
    .argument('<id>', 'ID of the run')
    .action(async (id: string, _, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      const run = await backend.call('approveRun', { params: { run: id }, body: {} });
      printData(output, run, () => '');
      printStatus(`Approved ${id}.`);
    });
}

function again(command: CliCommand): void {
  command
    .explain(`do the work of a run again, in a new run

The new run has the same deliveries, and its automation is as it was when the first run was recorded, apart from the options.
The first run must have ended: it stays as it is.

Examples:
  hookmill runs again run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs again run_01jd3m8z9qk5v7w2x4y6abcdef --prompt prompt.md --runner triage`)
    .argument('<id>', 'ID of the run')
    .option('--prompt <file>', 'file with another prompt')
    .option('--runner <name>', 'another runner')
    .action(async (id: string, options: { prompt?: string; runner?: string }, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      const file = options.prompt;
      const prompt =
        file === undefined ? undefined : (await readInputFile(file, 'the prompt')).toString('utf8');
      const run = await backend.call('runAgain', {
        params: { run: id },
        body: { prompt, runner: options.runner },
      });
      printData(output, run, () => `${run.id}\n`);
    });
}

const unended = ['queued', 'running'] as const satisfies readonly RunView['state'][];

function requireChoice(isNamed: boolean, options: LogFilterOptions): void {
  if (isNamed !== isFiltered(options)) return;
  throw new UsageError('name a run by its ID, or choose runs with --state or other options');
}

function retry(command: CliCommand): void {
  command.explain(`queue failed runs again and reset their attempt counts

Without an ID, all failed runs that the options choose are queued again, oldest first, apart from dismissed ones. hookmill
counts them and asks: confirm at the prompt or use --yes. After an interruption it can be repeated: it finds only runs
that are still failed.

Examples:
  hookmill runs retry run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs retry --state failed --since 1h --dry-run
  hookmill runs retry --automation triage --since 2026-01-31 --yes`);
  actOnFailedRuns(command, {
    operation: 'retryRun',
    verb: 'retry',
    done: 'retried',
    report: id => `Queued ${id} again.`,
  });
}

function dismiss(command: CliCommand): void {
  command.explain(`give up failed runs, so that they hold no others

A dismissed run stays failed. With onFailure: hold, the runs behind it go on. A retry of its ID undoes it. Without an ID,
all failed runs that the options choose are dismissed, oldest first: confirm at the prompt or use --yes.

Examples:
  hookmill runs dismiss run_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill runs dismiss --automation triage --since 1h --dry-run`);
  actOnFailedRuns(command, {
    operation: 'dismissRun',
    verb: 'dismiss',
    done: 'dismissed',
    report: id => `Dismissed ${id}.`,
  });
}

/** Makes a command act on one failed run, or on all that its options choose, apart from dismissed ones. */
function actOnFailedRuns(command: CliCommand, action: FailedRunsAction): void {
  const { operation, verb, done, report } = action;
  command.argument('[id]', 'ID of the run');
  addBulkOptions(addRunFilterOptions(command)).action(
    async (id: string | undefined, options: LogFilterOptions & BulkOptions, command: CliCommand) => {
      requireChoice(id !== undefined, options);
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
