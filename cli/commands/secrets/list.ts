import type { Command } from 'commander';
import { openContext } from '../../context.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill secrets list`. */
export function declareSecretsList(parent: Command): Command {
  return addCommand(
    parent,
    'list',
    'list team secrets, with the factories that may use them and what uses them (never their values)',
    `
Examples:
  hookmill secrets list
  hookmill secrets list -o json`,
  ).action(async (_, command: Command) => {
    const { store, output } = await openContext(command);
    const secrets = await store.teamSecrets.list();
    printData(output, secrets, () => {
      if (secrets.length === 0) return 'No team secrets. Run `hookmill secrets set NAME` to create one.\n';
      const rows = secrets.map(({ name, state, from, updatedAt, factories, usedBy }) => {
        const uses = usedBy
          .map(({ factory, webhook }) => `${factory}/${webhook ?? '(repository)'}`)
          .join(', ');
        return [name, from ?? state, updatedAt, factories?.join(', ') ?? 'all', uses || '-'];
      });
      return renderTable(['NAME', 'VALUE', 'UPDATED', 'FACTORIES', 'USED BY'], rows);
    });
  });
}
