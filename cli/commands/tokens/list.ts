import type { Command } from 'commander';
import { openContext } from '../../context.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill tokens list`. */
export function declareTokensList(parent: Command): Command {
  return addCommand(
    parent,
    'list',
    'list API tokens and their last use, never the tokens',
    `
Examples:
  hookmill tokens list
  hookmill tokens list -o json`,
  ).action(async (_, command: Command) => {
    const { store, output } = await openContext(command);
    const { listTokens } = await import('../../../operations/tokens.ts');
    const data = await listTokens(store);
    printData(output, data, () => {
      if (data.length === 0) return 'No API tokens. Run `hookmill tokens create NAME` to create one.\n';
      const rows = data.map(({ name, factory, permission, createdAt, expiresAt, lastUsedAt }) => {
        const times = [createdAt, expiresAt ?? 'never', lastUsedAt ?? 'never'];
        return [name, factory ?? 'all', permission, ...times];
      });
      return renderTable(['NAME', 'FACTORY', 'PERMISSION', 'CREATED', 'EXPIRES', 'LAST USED'], rows);
    });
  });
}
