import type { Command } from 'commander';
import { complete } from '../../completion/complete.ts';
import { completionScripts, type Shell } from '../../completion/completion-scripts.ts';
import { completionValues } from '../../completion/completion-values.ts';
import { printable } from '../../render/printable.ts';

export function printScript(shell: Shell): void {
  process.stdout.write(completionScripts[shell]);
}

/** Answers a shell's script: see completion-scripts.ts. */
export async function printCandidates(program: Command, words: readonly string[]): Promise<void> {
  const { candidates, source, paths, prefix, given } = complete(program, words);
  const current = words.at(-1) ?? '';
  const values = source ? await completionValues(source, given, process.env) : [];
  const lines = [
    ...candidates.map(({ value, description }) => [value, description]),
    ...values.map(value => [prefix + value]).filter(([value = '']) => value.startsWith(current)),
    ...(paths ? [[`:${paths}`]] : []),
  ];
  for (const line of lines)
    process.stdout.write(`${line.flatMap(text => (text ? [printable(text)] : [])).join('\t')}\n`);
}
