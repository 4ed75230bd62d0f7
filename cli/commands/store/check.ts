import type { Command } from 'commander';
import { printable } from '../../../schema/printable.ts';
import { openContext } from '../../context.ts';
import { exitStatus } from '../../exit-status.ts';
import { printData } from '../../output.ts';
import { renderFields } from '../../render/render-table.ts';
import { requireHome } from '../../require-home.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill store check`. */
export function declareStoreCheck(parent: Command): Command {
  return addCommand(
    parent,
    'check',
    'check what keeps everything: versions, durability, clocks, damage, sealed values',
    `
Changes nothing. Exits with 1 if there are problems: settings that lose deliveries, damage, values that do not open with
the key, webhooks whose team secret is missing, or runs without their delivery.

Examples:
  hookmill store check
  hookmill store check --store postgres://hookmill@db.example/hookmill -o json`,
  ).action(async (_, command: Command) => {
    const { store, output } = await openContext(command);
    requireHome(store.place);
    const { facts, problems } = await store.check();
    if (problems.length > 0) process.exitCode = exitStatus.problems;
    printData(output, { facts, problems }, () => {
      const found = problems.map(problem => `problem: ${printable(problem)}\n`).join('');
      return `${renderFields(Object.entries(facts))}\n${found || 'No problems found.\n'}`;
    });
  });
}
