import type { ListedAudit } from '../../operations/access/audit.ts';
import { describeOperation } from '../../schema/clients/describe.ts';
import { openBackend } from '../backend/open-backend.ts';
import { parseLimit } from '../input/options.ts';
import { printData } from '../output.ts';
import { renderTable } from '../render/render-table.ts';
import { type ReadPage, readRows } from '../rows/read-rows.ts';
import type { CliCommand } from './cli-command.ts';

type Entry = ListedAudit['entries'][number];

/** Declares `hookmill audit`. */
export function declareAudit(command: CliCommand): void {
  command
    .explain(`list who changed what, when and from where, newest first

Shows changes of the factory, and changes that concern all factories, such as API tokens: by API tokens and people over the
management API, by commands on this home, and by commits of the branch that the factory follows. An unfinished change is
still running or was interrupted: check whether it was made.

Examples:
  hookmill audit
  hookmill audit --limit 1000 -o json`)
    .option('--limit <n>', 'maximum number of changes', parseLimit, 50)
    .action(async ({ limit }: { readonly limit: number }, command: CliCommand) => {
      const { backend, output } = await openBackend(command);
      const readPage: ReadPage<Entry> = async ({ limit, cursor }) => {
        const query = { limit: String(limit), cursor };
        const { entries: rows, next } = await backend.call('listAudit', { query });
        return { rows, next, hasMore: next !== null, searched: rows.length };
      };
      const entries = await readRows(readPage, limit);
      printData(output, entries, () => (entries.length === 0 ? 'No changes.\n' : renderEntries(entries)));
    });
}

function renderEntries(entries: readonly Entry[]): string {
  const rows = entries.map(({ at, who, from, operation, factory, subject, unfinished }) => {
    const change = `${describeOperation(operation)}${unfinished ? ' (unfinished)' : ''}`;
    return [at, `${who.kind} ${who.name}`, from, factory ?? 'all', change, subject];
  });
  return renderTable(['TIME', 'WHO', 'FROM', 'FACTORY', 'CHANGE', 'SUBJECT'], rows);
}
