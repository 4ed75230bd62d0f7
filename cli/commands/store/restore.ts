import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { RestoreReport } from '../../../operations/backup-store.ts';
import { openContext } from '../../context.ts';
import { exitStatus } from '../../exit-status.ts';
import { printData } from '../../output.ts';
import { recordOwnMade } from '../../record-own-change.ts';
import { renderDifference, renderParts, renderRunning } from '../../render/render-copy.ts';
import { addCommand } from '../add-command.ts';
import { showRows } from './show-rows.ts';

/** Declares `hookmill store restore`. */
export function declareStoreRestore(parent: Command): Command {
  return addCommand(
    parent,
    'restore',
    'restore a backup to an empty home or database',
    `
The home or database must be empty, or have the beginning of the same backup: run a restore that was stopped again, and it
goes on. A backup of a home can be restored to a database, and the other way round.

It needs the key that the store had: in HOOKMILL_KEY or HOOKMILL_KEY_FILE, or as the file "key" in the home. Everything in
the file is checked before the first row is written, and the applied states are written last.

Examples:
  HOOKMILL_KEY_FILE=/safe/key hookmill store restore /backups/hookmill-monday --home /var/lib/hookmill
  HOOKMILL_STORE=postgres://hookmill@db.example/empty hookmill store restore hookmill.backup`,
  )
    .argument('<file>', 'a file that store backup wrote')
    .action(async (file: string, _, command: Command) => restore(resolve(file), command));
}

async function restore(file: string, command: Command): Promise<void> {
  const { store, output } = await openContext(command);
  const { restoreStore } = await import('../../../operations/backup-store.ts');
  const restoreAll = async () => {
    const report = await restoreStore(store, file, showRows('Restored'));
    if (report.isSame) await recordOwnMade(store, 'restoreStore', `${file} of ${report.facts.createdAt}`);
    return report;
  };
  const report = await restoreAll().finally(store.close);
  if (!report.isSame) process.exitCode = exitStatus.problems;
  printData(output, { file, ...report }, () => renderRestore(report));
}

function renderRestore({ parts, isSame, runsRunning, facts }: RestoreReport): string {
  const table = renderParts(parts);
  if (!isSame) return `${table}\n${renderDifference(parts)} Empty the target and restore again.\n`;
  const missing = facts.isWithoutPayloads
    ? 'It has no payloads: deliveries cannot be replayed, and runs that are not finished will fail.\n'
    : '';
  return `${table}\nRestored everything as of ${facts.createdAt}.\n${missing}${renderRunning(runsRunning)}Now start the daemon.\n`;
}
