import type { Command } from 'commander';
import { openContext, toOpenFactory } from '../../context.ts';
import { printData } from '../../output.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill reconcile resume`. */
export function declareReconcileResume(parent: Command): Command {
  return addCommand(
    parent,
    'resume',
    'follow the branch again',
    `
Examples:
  hookmill reconcile resume
  hookmill reconcile resume && hookmill reconcile --once`,
  ).action(async (_, command: Command) => {
    const { setSuspended } = await import('../../reconcile/set-suspended.ts');
    const context = await openContext(command);
    const data = await setSuspended(toOpenFactory(context), false);
    printData(context.output, data, () => `Resumed reconciling of the factory ${data.factory}.\n`);
  });
}
