import type { Command } from 'commander';
import { printable } from '../../../schema/printable.ts';
import { printExactly } from '../../output.ts';

/** Declares the hidden command that the completion scripts call. It completes the last of the words typed so far. */
export function declareComplete(program: Command): Command {
  return program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => printCandidates(program, words));
}

/** Prints the candidates in the format that completion-scripts.ts explains. */
async function printCandidates(program: Command, words: readonly string[]): Promise<void> {
  const [{ complete }, { readValues }] = await Promise.all([
    import('../../completion/complete.ts'),
    import('../../completion/read-values.ts'),
  ]);
  const { candidates, source, paths, prefix, given } = complete(program, words);
  const current = words.at(-1) ?? '';
  const values = source ? await readValues(source, given, process.env) : [];
  const lines = [
    ...candidates.map(({ value, description }) => [value, description]),
    ...values
      .map(({ value, description }) => [prefix + value, description])
      .filter(([value = '']) => value.startsWith(current)),
    ...(paths ? [[`:${paths}`]] : []),
  ];
  for (const line of lines)
    printExactly(`${line.flatMap(text => (text ? [printable(text)] : [])).join('\t')}\n`);
}
