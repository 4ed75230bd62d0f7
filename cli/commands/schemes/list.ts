import type { Command } from 'commander';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill schemes list`. */
export function declareSchemesList(parent: Command): Command {
  return addCommand(
    parent,
    'list',
    'list the signature schemes of providers',
    `
Examples:
  hookmill schemes list
  hookmill schemes list -o json`,
  ).action(async (_, command: Command) => {
    const { schemes } = await import('../../../signatures/schemes.ts');
    const { output }: GlobalOptions = command.optsWithGlobals();
    const data = schemes.map(({ id, provider, kind, page }) => ({ id, provider, kind, page }));
    const rows = data.map(({ id, provider, kind }) => [id, provider, kind]);
    printData(output, data, () => renderTable(['SCHEME', 'PROVIDER', 'KIND'], rows));
  });
}
