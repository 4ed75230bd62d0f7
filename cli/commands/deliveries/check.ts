import type { Command } from 'commander';
import type { Salvaged } from '../../../store/ports.ts';
import { openContext } from '../../context.ts';
import { exitStatus } from '../../exit-status.ts';
import { printData } from '../../output.ts';
import { recordOwnChange } from '../../record-own-change.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill deliveries check`. */
export function declareDeliveriesCheck(parent: Command): Command {
  return addCommand(
    parent,
    'check',
    'check the file of the delivery log, and salvage what can be read',
    `
Works on the home of this machine. A check changes nothing. To salvage, stop the daemon first. The damaged file is kept
under another name.

Examples:
  hookmill deliveries check
  hookmill deliveries check --salvage`,
  )
    .option('--salvage', 'if it is damaged, replace it by a copy of all rows that can be read')
    .action(async (options: { salvage?: true }, command: Command) => {
      const { store, output } = await openContext(command);
      requireHome(store.place);
      const all = { store, factory: null };
      const problems = await store.checkDeliveryLog();
      if (problems.length === 0) {
        printData(output, { problems }, () => 'The delivery log is intact.\n');
      } else if (options.salvage) {
        const salvaged = await recordOwnChange(all, 'salvageDeliveries', '', store.salvageDeliveryLog);
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
