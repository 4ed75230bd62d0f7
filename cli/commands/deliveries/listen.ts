import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { UsageError } from '../../exit-status.ts';
import { parseCount } from '../../input/parse-options.ts';
import { printJsonLine, printStatus, printText } from '../../output.ts';
import { openTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill listen`. */
export function declareListen(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'listen',
    'forward accepted deliveries to a local URL while you develop',
    `
Each delivery is posted as it was received, byte for byte, with the event headers that were kept, its ID in
hookmill-delivery-id, and no credential or signature. They come in order, one after the other: the next one is sent when
the local receiver has answered, with whatever status. While it cannot be reached, nothing is left out.

It begins with what arrives from now on. Started again, it goes on where it was, also after days. It needs an API token
with the permission read, and changes nothing at the server.

Examples:
  hookmill listen --server https://hooks.example.com --webhook deploys --forward http://localhost:3000/hook
  hookmill listen --forward http://localhost:3000 --replay-last 5`,
  )
    .requiredOption('--forward <url>', 'URL of the local receiver')
    .option('--webhook <name>', 'only deliveries of this webhook (name or UID)')
    .option('--replay-last <n>', 'begin with the last n deliveries', parseCount('--replay-last'))
    .action(async ({ forward, webhook, replayLast }: ListenOptions, command: Command) => {
      if (!/^https?:$/.test(URL.parse(forward)?.protocol ?? '')) {
        throw new UsageError('--forward must be a URL that begins with http:// or https://');
      }
      const [{ backend, output, factory }, { openCursorFile }, { forwardDeliveries }] = await Promise.all([
        openBackend(command),
        import('../../listen/cursor-file.ts'),
        import('../../listen/forward-deliveries.ts'),
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

function openRowPrinter(): (row: Forwarded) => void {
  const table = openTable(['TIME', 'WEBHOOK', 'ID', 'STATUS', 'ANSWERED IN']);
  return ({ id, webhook, at, status, ms }) =>
    printText(table([[at, webhook, id, String(status), `${ms} ms`]]));
}
