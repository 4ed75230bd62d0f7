import type { Command } from 'commander';
import { CommandError } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { describeUnknownScheme } from '../../render/describe-unknown-scheme.ts';
import { renderFields } from '../../render/render-table.ts';
import { addCommand } from '../add-command.ts';

/** Declares `hookmill schemes show`. */
export function declareSchemesShow(parent: Command): Command {
  return addCommand(
    parent,
    'show',
    'show what a provider signs, where to find its secret, and an example definition',
    `
Examples:
  hookmill schemes show stripe
  hookmill schemes show github -o json`,
  )
    .argument('<id>', 'ID of the signature scheme')
    .action(async (id: string, _, command: Command) => showScheme(id, command.optsWithGlobals()));
}

async function showScheme(id: string, { output }: GlobalOptions): Promise<void> {
  const [{ findScheme, schemeIds }, { summariseScheme }, { renderExampleDefinition }] = await Promise.all([
    import('../../../signatures/schemes.ts'),
    import('../../../signatures/summary.ts'),
    import('../../../signatures/reference.ts'),
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
