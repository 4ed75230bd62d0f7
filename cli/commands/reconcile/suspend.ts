import type { Command } from 'commander';
import { openContext, toOpenFactory } from '../../context.ts';
import { printData } from '../../output.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill reconcile suspend`. */
export function declareReconcileSuspend(parent: Command): Command {
  return addCommand(
    parent,
    'suspend',
    'stop following the branch until you resume',
    `
The daemon and every other reconcile of the factory stop too. After you resume, the next reconcile undoes whatever was
applied by hand in the meantime.

Examples:
  hookmill reconcile suspend
  hookmill --factory payments reconcile suspend`,
  ).action(async (_, command: Command) => {
    const { setSuspended } = await import('../../reconcile/set-suspended.ts');
    const context = await openContext(command);
    const data = await setSuspended(toOpenFactory(context), true);
    printData(
      context.output,
      data,
      () => `Reconciling of the factory ${data.factory} has been suspended since ${data.suspendedAt}.\n`,
    );
  });
}
