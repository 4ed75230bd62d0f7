import { Argument } from 'commander';
import { printable } from '../../schema/text/printable.ts';
import type { Shell } from '../completion/completion-scripts.ts';
import { printExactly } from '../output.ts';
import type { CliCommand } from './cli-command.ts';

/** Declares `hookmill completion`. */
export function declareCompletion(command: CliCommand): void {
  command
    .explain(`print a script that lets a shell complete commands, options and names

For bash, add the first line to ~/.bashrc. For zsh, add the second line to ~/.zshrc, after compinit. For fish, run the
third line once.

Examples:
  eval "$(hookmill completion bash)"
  source <(hookmill completion zsh)
  hookmill completion fish > ~/.config/fish/completions/hookmill.fish`)
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const { completionScripts } = await import('../completion/completion-scripts.ts');
      printExactly(completionScripts[shell]);
    });
}

/** Declares the hidden command that the completion scripts call. It completes the last of the words typed so far. */
export function declareComplete(program: CliCommand): void {
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => printCandidates(program, words));
}

/** Prints the candidates in the format that completion-scripts.ts explains. */
async function printCandidates(program: CliCommand, words: readonly string[]): Promise<void> {
  const [{ complete }, { readValues }] = await Promise.all([
    import('../completion/complete.ts'),
    import('../completion/read-values.ts'),
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
