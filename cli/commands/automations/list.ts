import type { Command } from 'commander';
import type { OpenBackend } from '../../backend/backend.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill automations list`. */
export function declareAutomationsList(parent: Command, openBackend: OpenBackend): Command {
  return addCommand(
    parent,
    'list',
    'list the applied automations and their webhooks',
    `
Examples:
  hookmill automations list
  hookmill automations list -o json`,
  ).action(async (_, command: Command) => {
    const { backend, output } = await openBackend(command);
    const { automations } = await backend.call('listAutomations');
    printData(output, automations, () => {
      if (automations.length === 0) return 'No automations are applied.\n';
      const rows = automations.map(({ name, enabled, triggers }) => {
        const webhooks = triggers.map(({ webhook, uid }) => webhook ?? `${uid} (unknown)`);
        return [name, enabled ? 'yes' : 'no', webhooks.join(', ')];
      });
      return renderTable(['NAME', 'ENABLED', 'WEBHOOKS'], rows);
    });
  });
}
