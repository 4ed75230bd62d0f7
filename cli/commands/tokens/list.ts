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
    const data = (await store.apiTokens.list()).map(({ sha256: _, ...shown }) => shown);
    printData(output, data, () => {
      if (data.length === 0) return 'No API tokens. Run `hookmill tokens create NAME` to create one.\n';
      const rows = data.map(({ name, factory, permission, createdAt, lastUsedAt }) => {
        return [name, factory ?? 'all', permission, createdAt, lastUsedAt ?? 'never'];
      });
      return renderTable(['NAME', 'FACTORY', 'PERMISSION', 'CREATED', 'LAST USED'], rows);
    });
  });
}
