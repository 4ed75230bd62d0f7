import type { Command } from 'commander';
import { didYouMean } from '../../../schema/suggestion.ts';
import { exampleDefinition } from '../../../signatures/reference.ts';
import { findScheme, schemeIds, schemes } from '../../../signatures/scheme.ts';
import { summarise } from '../../../signatures/summary.ts';
import { CommandError } from '../../exit-status.ts';
import type { GlobalOptions } from '../../global-options.ts';
import { printData } from '../../output.ts';
import { fieldList, table } from '../../render/table.ts';

export function list(command: Command): void {
  const options: GlobalOptions = command.optsWithGlobals();
  const data = schemes.map(({ id, provider, kind, page }) => ({ id, provider, kind, page }));
  printData(options, data, () =>
    table(
      ['SCHEME', 'PROVIDER', 'KIND'],
      data.map(({ id, provider, kind }) => [id, provider, kind]),
    ),
  );
}

export function show(id: string, command: Command): void {
  const options: GlobalOptions = command.optsWithGlobals();
  const scheme = findScheme(id);
  if (!scheme) {
    const hint = didYouMean(id, schemeIds) ?? '`hookmill schemes list` prints the known ones';
    throw new CommandError(`there is no signature scheme "${id}"; ${hint}`);
  }
  const facts = summarise(scheme);
  const example = exampleDefinition(id);
  const data = {
    id,
    provider: scheme.provider,
    kind: scheme.kind,
    facts: Object.fromEntries(facts.map(({ label, text }) => [label, text])),
    example,
  };
  printData(options, data, () => {
    const fields = facts.map(({ label, text }) => [label.toLowerCase(), text] as const);
    const heading = fieldList([
      ['scheme', id],
      ['provider', scheme.provider],
      ['kind', scheme.kind],
      ...fields,
    ]);
    return `${heading}\nwebhooks/${id}.yaml:\n\n${example.replaceAll(/^(?=.)/gm, '  ')}`;
  });
}
