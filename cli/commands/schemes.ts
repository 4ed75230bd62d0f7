import { matchesWords } from '../../schema/clients/describe.ts';
import { describeUnknownScheme } from '../describe-error.ts';
import { CommandError } from '../exit-status.ts';
import type { GlobalOptions } from '../global-options.ts';
import { printData, printStatus } from '../output.ts';
import { renderFields, renderTable } from '../render/render-table.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill schemes`. */
export function declareSchemes(command: CliCommand): void {
  command
    .explain(`list the signature schemes of providers, and explain each

Examples:
  hookmill schemes list
  hookmill schemes show stripe`)
    .subcommands({ list, show });
}

function list(command: CliCommand): void {
  command
    .explain(`list the signature schemes of providers, and when each was last checked against its source

Examples:
  hookmill schemes list
  hookmill schemes list payment
  hookmill schemes list git -o json`)
    .argument('[text]', 'words that the ID, provider or kind must contain (default: list all)')
    .action(async (text: string | undefined, _, command: CliCommand) =>
      listSchemes(text ?? '', command.optsWithGlobals()),
    );
}

async function listSchemes(text: string, { output }: GlobalOptions): Promise<void> {
  const { schemes } = await import('../../signatures/schemes.ts');
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

function show(command: CliCommand): void {
  command
    .explain(`show what a provider signs, where to find its secret, and an example definition

Examples:
  hookmill schemes show stripe
  hookmill schemes show github -o json`)
    .argument('<id>', 'ID of the signature scheme')
    .action(async (id: string, _, command: CliCommand) => showScheme(id, command.optsWithGlobals()));
}

async function showScheme(id: string, { output }: GlobalOptions): Promise<void> {
  const [{ findScheme, schemeIds }, { summariseScheme }, { renderExampleDefinition }] = await Promise.all([
    import('../../signatures/schemes.ts'),
    import('../../signatures/summary.ts'),
    import('../../signatures/reference.ts'),
  ]);
  const scheme = findScheme(id);
  if (!scheme) throw new CommandError(describeUnknownScheme(id, schemeIds));
  const { provider, kind } = scheme;
  const facts = summariseScheme(scheme);
  const example = renderExampleDefinition(id);
  const factTexts = Object.fromEntries(facts.map(({ label, text }) => [label, text]));
  printData(output, { id, provider, kind, facts: factTexts, example }, () => {
    const heading = renderFields([
      ['scheme', id],
      ['provider', provider],
      ['kind', kind],
      ...facts.map(({ label, text }) => [label.toLowerCase(), text] as const),
    ]);
    return `${heading}\nwebhooks/${id}.yaml:\n\n${example.replaceAll(/^(?=.)/gm, '  ')}`;
  });
}
