import type { DeliveryView } from '../../operations/views/delivery-views.ts';
import { renderCurl } from '../../schema/clients/render-curl.ts';
import type { Salvaged } from '../../store/ports/store.ts';
import type { Backend } from '../backend/backend.ts';
import { openBackend } from '../backend/open-backend.ts';
import { openContext } from '../context.ts';
import { CommandError, exitStatus, UsageError } from '../exit-status.ts';
import {
  addDeliveryFilterOptions,
  isFiltered,
  type LogFilterOptions,
  parseCount,
  parseLimit,
  parseRunState,
  toLogFilter,
} from '../input/options.ts';
import { printData, printExactly, printJsonLine, printStatus, printText } from '../output.ts';
import { recordOwnChange } from '../record-own-change.ts';
import { openDeliveryTable, renderDelivery } from '../render/render-delivery.ts';
import { openTable, renderTable } from '../render/render-table.ts';
import { renderUnlogged } from '../render/render-webhook.ts';
import { requireHome } from '../require-home.ts';
import { actInBulk, addBulkOptions, type BulkOptions } from '../rows/act-in-bulk.ts';
import { followRows } from '../rows/follow-rows.ts';
import { readDeliveries, readRows } from '../rows/read-rows.ts';
import type { CliCommand } from './cli-command.ts';

interface ListenOptions {
  readonly forward: string;
  readonly webhook?: string;
  readonly replayLast?: number;
}

interface Forwarded {
  readonly id: string;
  readonly webhook: string;
  /** The time at which it was received. */
  readonly at: string;
  readonly status: number;
  readonly ms: number;
}

interface ReplayOptions extends LogFilterOptions, BulkOptions {}

interface ListOptions extends LogFilterOptions {
  readonly limit: number;
  readonly follow?: true;
}

/** Declares `hookmill deliveries`. */
export function declareDeliveries(command: CliCommand): void {
  command
    .explain(`list, explain and replay deliveries

Examples:
  hookmill deliveries list --webhook deploys
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef`)
    .subcommands({ list, replay, show, check });
}

function list(command: CliCommand): void {
  addDeliveryFilterOptions(
    command.explain(`list deliveries, newest first

With --follow, the newest deliveries are printed oldest first, and then each one as it is recorded, until Ctrl-C. With
-o json, each is one line. It survives a restart of the server, and leaves none out.

Examples:
  hookmill deliveries list --webhook deploys --since 2h
  hookmill deliveries list --search order-4711 --since 7d
  hookmill deliveries list --outcome 'Rejected (auth)' --limit 10 --follow`),
  )
    .option('--automation <name>', 'only deliveries with a run of this automation')
    .option('--state <state>', 'only deliveries with a run in this state', parseRunState)
    .option('--limit <n>', 'maximum number of deliveries', parseLimit, 50)
    .option('-f, --follow', 'also print deliveries as they are recorded')
    .action(async ({ limit, follow, ...options }: ListOptions, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      const filter = toLogFilter(options);
      const summary = output === 'json' ? undefined : 'true';
      const readPage = readDeliveries(backend, { ...filter, summary });
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

function replay(command: CliCommand): void {
  command
    .explain(`start new runs from stored payloads

Tests the payload with the automations that are applied now. The new runs are marked as replays; no new delivery is
recorded.

Without an ID, all accepted deliveries that the options choose are replayed, oldest first. hookmill counts them and asks:
confirm at the prompt or use --yes. After an interruption it says how to go on.

Examples:
  hookmill deliveries replay dlv_01jd3m8z9qk5v7w2x4y6abcdef --automation triage
  hookmill deliveries replay --webhook deploys --since 2h --dry-run
  hookmill deliveries replay --event push --since 2026-01-31 --rate 2 --yes`)
    .argument('[id]', 'ID of the delivery')
    .option('--automation <name>', 'only start runs of this automation');
  addBulkOptions(addDeliveryFilterOptions(command)).action(
    async (id: string | undefined, { automation, ...options }: ReplayOptions, command: CliCommand) => {
      if ((id === undefined) !== isFiltered(options)) {
        throw new UsageError(
          'name one delivery by its ID, or choose deliveries with --since or other options',
        );
      }
      if (options.outcome?.some(outcome => outcome !== 'Accepted')) {
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
      const filter = { ...chosen, outcome: ['Accepted'], untilMs: chosen.untilMs ?? Date.now() } as const;
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

function show(command: CliCommand): void {
  command
    .explain(`explain one delivery: each automation's verdict, the runs it started, and its payload

With -o curl, it prints a command that sends the stored body and event headers to the webhook again, without a credential.

Examples:
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef -o curl
  hookmill deliveries show dlv_01jd3m8z9qk5v7w2x4y6abcdef --payload > body.json`)
    .argument('<id>', 'ID of the delivery')
    .option('--payload', 'print only the stored body, byte for byte')
    .action(async (id: string, options: { payload?: true }, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      if (options.payload) {
        printExactly(await backend.call('downloadPayload', { params: { delivery: id } }));
        return;
      }
      const delivery = await backend.call('showDelivery', { params: { delivery: id } });
      if (command.optsWithGlobals().output === 'curl') {
        printExactly(await renderAsCurl(backend, delivery));
        return;
      }
      printData(output, delivery, () => renderDelivery(delivery));
    });
}

async function renderAsCurl(backend: Backend, delivery: DeliveryView): Promise<string> {
  const body = await backend.call('downloadPayload', { params: { delivery: delivery.id } });
  const { webhooks } = await backend.call('listWebhooks');
  const webhook = webhooks.find(({ uid }) => uid === delivery.uid);
  if (!webhook)
    throw new CommandError(`the webhook ${delivery.webhook} is no longer applied, so it has no URL`);
  return renderCurl(delivery, body, webhook);
}

function check(command: CliCommand): void {
  command
    .explain(`check the file of the delivery log, and salvage what can be read

Works on the home of this machine. A check changes nothing. To salvage, stop the daemon first. The damaged file is kept
under another name.

Examples:
  hookmill deliveries check
  hookmill deliveries check --salvage`)
    .option('--salvage', 'if it is damaged, replace it by a copy of all rows that can be read')
    .action(async (options: { salvage?: true }, command: CliCommand) => {
      const { store, output } = await openContext(command);
      requireHome(store.place);
      const problems = await store.checkDeliveryLog();
      if (problems.length === 0) {
        printData(output, { problems }, () => 'The delivery log is intact.\n');
      } else if (options.salvage) {
        const salvaged = await recordOwnChange({ store }, 'salvageDeliveries', '', store.salvageDeliveryLog);
        printData(output, { problems, salvaged }, () => describeSalvaged(salvaged));
      } else {
        process.exitCode = exitStatus.problems;
        const advice = 'Restore a backup, or stop the daemon and run `hookmill deliveries check --salvage`.';
        printData(
          output,
          { problems },
          () => `${problems.join('\n')}\n\nThe delivery log is damaged. ${advice}\n`,
        );
      }
    });
}

function describeSalvaged({ deliveries, runs, altered, damagedFile }: Salvaged): string {
  return [
    `Salvaged ${deliveries} deliveries and ${runs} runs.`,
    ...(altered.deliveries > 0
      ? [`Left out, because their payload was altered: ${altered.deliveries}.`]
      : []),
    ...(altered.snapshots > 0
      ? [
          `Versions of automations left out, because they were altered: ${altered.snapshots}. Their runs fail.`,
        ]
      : []),
    `The damaged log is now ${damagedFile}.\n`,
  ].join(' ');
}

/** Declares `hookmill listen`. */
export function declareListen(command: CliCommand): void {
  command
    .explain(`forward accepted deliveries to a local URL while you develop

Each delivery is posted as it was received, byte for byte, with the event headers that were kept, its ID in
hookmill-delivery-id, and no credential or signature. They come in order, one after the other: the next one is sent when
the local receiver has answered, with whatever status. While it cannot be reached, nothing is left out.

It begins with what arrives from now on. Started again, it goes on where it was, also after days. It needs an API token
with the permission read, and changes nothing at the server.

Examples:
  hookmill listen --server https://hooks.example.com --webhook deploys --forward http://localhost:3000/hook
  hookmill listen --forward http://localhost:3000 --replay-last 5`)
    .requiredOption('--forward <url>', 'URL of the local receiver')
    .option('--webhook <name>', 'only deliveries of this webhook (name or UID)')
    .option('--replay-last <n>', 'begin with the last n deliveries', parseCount('--replay-last'))
    .action(async ({ forward, webhook, replayLast }: ListenOptions, command: CliCommand) => {
      if (!/^https?:$/.test(URL.parse(forward)?.protocol ?? '')) {
        throw new UsageError('--forward must be a URL that begins with http:// or https://');
      }
      const [{ backend, output, factory }, { openCursorFile }, { forwardDeliveries }] = await Promise.all([
        openBackend(command),
        import('../listen/cursor-file.ts'),
        import('../listen/forward-deliveries.ts'),
      ]);
      const print = output === 'json' ? printJsonLine : openRowPrinter();
      printStatus(`Forwarding to ${forward}. Ctrl-C ends it.`);
      await forwardDeliveries({
        ...{ backend, webhook, to: forward, replayLast },
        cursor: openCursorFile({ source: backend.source, factory, webhook, to: forward }),
        onForwarded: ({ id, webhook, at }, status, ms) => print({ id, webhook, at, status, ms }),
      });
    });
}

function openRowPrinter(): (row: Forwarded) => void {
  const table = openTable(['TIME', 'WEBHOOK', 'ID', 'STATUS', 'ANSWERED IN']);
  return ({ id, webhook, at, status, ms }) =>
    printText(table([[at, webhook, id, String(status), `${ms} ms`]]));
}
