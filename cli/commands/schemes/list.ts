import type { Command } from 'commander';
import { matchesWords } from '../../../schema/match-words.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData, printStatus } from '../../output.ts';
import { renderTable } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill schemes list`. */
export function declareSchemesList(parent: Command): Command {
  return addCommand(
    parent,
    'list',
    'list the signature schemes of providers, and when each was last checked against its source',
    `
Examples:
  hookmill schemes list
  hookmill schemes list payment
  hookmill schemes list git -o json`,
  )
    .argument('[text]', 'words that the ID, provider or kind must contain (default: list all)')
    .action(async (text: string | undefined, _, command: Command) =>
      listSchemes(text ?? '', command.optsWithGlobals()),
    );
}

async function listSchemes(text: string, { output }: GlobalOptions): Promise<void> {
  const { schemes } = await import('../../../signatures/schemes.ts');
  const data = schemes
    .filter(({ id, provider, kind }) => matchesWords(`${id} ${provider} ${kind}`, text))
    .map(({ id, provider, kind, page, checked }) => ({ id, provider, kind, page, checked }));
  const rows = data.map(({ id, provider, kind, checked }) => [
    id,
    provider,
    kind,
    checked.on,
    checked.against,
  ]);
  printData(output, data, () => renderTable(['SCHEME', 'PROVIDER', 'KIND', 'CHECKED', 'AGAINST'], rows));
  if (data.length === 0) {
    printStatus(`No signature scheme matches "${text}". A definition can describe any other HMAC scheme.`);
  }
}
