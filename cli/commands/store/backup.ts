import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CopyReport } from '../../../operations/copy-store.ts';
import { openContext } from '../../context.ts';
import { CommandError, exitStatus } from '../../exit-status.ts';
import { askToConfirm } from '../../input/ask-to-confirm.ts';
import { printData } from '../../output.ts';
import { renderDifference, renderParts } from '../../render/render-copy.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';
import { showRows } from './show-rows.ts';

/** Declares `hookmill store backup`. */
export function declareStoreBackup(parent: Command): Command {
  return addCommand(
    parent,
    'backup',
    'write everything to an encrypted file, while daemons go on',
    `
The file has everything as it was at one moment: applied states, team secrets, API tokens, deliveries, identities, and runs
with their output. A delivery that was answered with 202 before the backup began is in it. The file is read again and
compared before it gets its name.

Only the key of the store opens the file, and the key is not in it: keep a copy of HOOKMILL_KEY or of the home's key file
elsewhere.

--without-payloads leaves out the payloads of deliveries and the outputs of runs. Duplicates are still recognised, but
deliveries cannot be replayed, plans do not show what a filter does to them, and runs that are not finished will fail.

Examples:
  hookmill store backup /backups/hookmill-monday
  HOOKMILL_STORE=postgres://hookmill@db.example/hookmill hookmill store backup hookmill.backup -o json`,
  )
    .argument('<file>', 'the file to write')
    .option('--without-payloads', 'leave out the payloads of deliveries and the outputs of runs')
    .option('--yes', 'replace an existing file without asking')
    .action(async (file: string, options: StoreBackupOptions, command: Command) =>
      backUp(file, options, command),
    );
}

interface StoreBackupOptions {
  readonly withoutPayloads?: true;
  readonly yes?: true;
}

async function backUp(path: string, { withoutPayloads, yes }: StoreBackupOptions, command: Command) {
  const { store, output } = await openContext(command);
  requireHome(store.place);
  const file = resolve(path);
  if (existsSync(file) && !yes && !(await askToConfirm(`Replace ${file}?`, output))) {
    throw new CommandError(`${file} exists; choose another name, or use --yes to replace it`);
  }
  const { backUpStore } = await import('../../../operations/backup-store.ts');
  const isWithoutPayloads = withoutPayloads === true;
  const options = { isWithoutPayloads, now: () => new Date(), onRows: showRows('Written') };
  const report = await backUpStore(store, file, options).finally(store.close);
  if (!report.isSame) process.exitCode = exitStatus.problems;
  printData(output, { file, isWithoutPayloads, ...report }, () => renderBackup(file, report));
}

function renderBackup(file: string, { parts, isSame }: CopyReport): string {
  const table = renderParts(parts);
  if (!isSame) return `${table}\n${renderDifference(parts)} The file was not kept; check its disk.\n`;
  return `${table}\nWrote ${file}. Only the key of this store opens it: keep a copy of the key elsewhere.\n`;
}
